import {
  HTTP_HEADINGS,
  type NamedServer,
  STDIO_HEADINGS,
  type TomlTable,
  entryText,
  hasServer,
  isServerName,
  listed,
  readConfig,
  readEnvironments,
  readServers,
  rowOf,
  shown,
  withServer,
  withoutServer,
} from '@parley/codex/config'
import { CommandError, type Invocation, usageError, type Values } from '@parley/command-line'
import { askYes, canAsk, envPairs, isVariable, show, splitWords } from '@parley/command-line/commands'
import { authStatusOf, probeOauth } from '../../mcp-config/auth-status.ts'
import { named, serversFileOf } from '../../mcp-config/servers-file.ts'
import { tokenShelf } from '../../mcp-config/token-file.ts'
import { columns } from '@parley/screen'

export async function mcpAdd(invocation: Invocation): Promise<number> {
  const { io, values, positionals } = invocation
  const [name = ''] = positionals
  checkName(name)
  const entry = entryOf(invocation)
  const file = serversFileOf(invocation)
  await file.change((text) => {
    if (!values.has('force') && hasServer(text, name))
      throw new CommandError('exists', `there is an MCP server named ${name} already`, {
        hint: '--force puts this one in its place',
      })
    return withServer(text, name, entry)
  })
  await warnOfEnvironment(invocation, file.environmentsPath)
  const url = typeof entry['url'] === 'string' ? entry['url'] : undefined
  const found = url === undefined || 'bearer_token_env_var' in entry ? undefined : await probeOauth(url)
  const signIn = found === undefined ? 'not_needed' : found === 'unknown' ? 'unknown' : 'needed'
  if (values.has('json')) io.out(`${JSON.stringify({ name, added: true, file: file.path, sign_in: signIn })}\n`)
  else {
    io.out(`Added MCP server '${name}'.\n`)
    if (signIn === 'needed' && canAsk(io) && (await askYes(io, 'It wants a sign-in. Sign in now?')))
      return (await import('./mcp-sign-in.ts')).mcpLogin(invocation)
    if (signIn === 'needed') io.out(io.typed(`It wants a sign-in: parley mcp login ${name}\n`))
    if (signIn === 'unknown')
      io.out(io.typed(`It does not answer now, so whether it wants a sign-in is not known: parley mcp login ${name}\n`))
  }
  return 0
}

export async function mcpList(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const file = serversFileOf(invocation)
  const text = await file.read()
  const { servers, problems } = await named(file.path, () => readServers(text))
  for (const problem of problems) io.err(`${file.path}: ${problem}\n`)
  const tokens = tokenShelf(file.tokensPath)
  const rows = await Promise.all(
    servers.map(async ({ name, entry }) => ({ name, entry, auth: await authStatusOf(name, entry, tokens) })),
  )
  if (values.has('json')) {
    io.out(`${JSON.stringify(rows.map(({ name, entry, auth }) => listed(name, entry, auth)))}\n`)
    return 0
  }
  if (rows.length === 0) {
    io.out(io.typed('No MCP servers configured yet. Try `parley mcp add my-tool -- my-command`.\n'))
    return 0
  }
  // Only where one is: the table is Codex's own.
  const isAway = rows.some(({ entry }) => entry.environment_id !== undefined)
  const away = (text: string): string[] => (isAway ? [text] : [])
  const cells = (isHttp: boolean): string[][] =>
    rows
      .filter(({ entry }) => (entry.url !== undefined) === isHttp)
      .map(({ name, entry, auth }) => [...rowOf(name, entry, auth), ...(isHttp ? [] : away(entry.environment_id ?? '-'))])
  const stdioHeadings = [...STDIO_HEADINGS, ...away('Environment')]
  const tables = [[stdioHeadings, cells(false)] as const, [HTTP_HEADINGS, cells(true)] as const].flatMap(([headings, body]) =>
    body.length === 0 ? [] : [columns([headings, ...body], io.screen())],
  )
  io.out(`${tables.join('\n\n')}\n`)
  return 0
}

export async function mcpGet(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const { name, entry } = await serverOf(invocation)
  io.out(values.has('json') ? `${JSON.stringify(shown(name, entry))}\n` : io.typed(entryText(name, entry)))
  return 0
}

export async function mcpRemove(invocation: Invocation): Promise<number> {
  const [name = ''] = invocation.positionals
  const file = serversFileOf(invocation)
  let removed = false
  await file.change((text) => {
    removed = hasServer(text, name)
    return withoutServer(text, name)
  })
  await tokenShelf(file.tokensPath).drop(name)
  return show(invocation, { name, removed }, removed ? `Removed MCP server '${name}'.` : `No MCP server named '${name}' found.`)
}

/** A server whose environment is not there does not start; it may still be written down later. */
async function warnOfEnvironment({ io, values }: Invocation, path: string): Promise<void> {
  const id = values.text('environment')
  if (id === undefined) return
  const known = await named(path, async () => readEnvironments(await readConfig(path)))
  if (!known.has(id)) io.err(`warning: there is no environment ${id} in ${path} yet; without it the server does not start\n`)
}

/** The server that the command names. */
export async function serverOf(invocation: Invocation): Promise<NamedServer> {
  const [name = ''] = invocation.positionals
  const file = serversFileOf(invocation)
  return named(file.path, async () => {
    const { servers, problems } = readServers(await file.read())
    const found = servers.find((server) => server.name === name)
    if (found !== undefined) return found
    const wrong = problems.find((problem) => problem.startsWith(`mcp_servers.${name}`))
    if (wrong !== undefined) throw new CommandError('config_unreadable', `${file.path}: ${wrong}`, { hint: 'correct it by hand' })
    throw new CommandError('not_found', `there is no MCP server named '${name}'`, { hint: 'parley mcp list shows what there is' })
  })
}

export function checkName(name: string): void {
  if (!isServerName(name))
    throw usageError(
      `${JSON.stringify(name)} cannot be the name of a server`,
      'use letters, digits and - _ : @ / . (128 at most)',
    )
}

function entryOf({ values, rest }: Invocation): TomlTable {
  const line = values.text('command')
  const url = values.text('url')
  const words = line === undefined ? rest : splitWords(line)
  if (line !== undefined && rest.length > 0) throw usageError('--command and -- say the same: give one of them')
  if ((url === undefined) === (words.length === 0))
    throw usageError('mcp add needs either --url or a command', 'parley mcp add NAME -- CMD ARGS…')
  if (url !== undefined) return httpEntry(url, values)
  for (const option of ['bearer-token-env-var', 'oauth-client-id', 'oauth-resource'])
    if (values.has(option)) throw usageError(`--${option} goes with --url`)
  const [command = '', ...args] = words
  const env = envPairs('--env', values.all('env'))
  const environment = values.text('environment')
  return {
    command,
    ...(args.length === 0 ? {} : { args }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(environment === undefined ? {} : { environment_id: environment }),
  }
}

function httpEntry(url: string, values: Values): TomlTable {
  if (values.has('environment')) throw usageError('--environment goes with a command')
  if (values.has('env')) throw usageError('--env goes with a command; a server at --url has an environment of its own')
  const parsed = URL.parse(url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol))
    throw usageError(`--url must be an http or https address, not ${JSON.stringify(url)}`)
  if (parsed.username !== '' || parsed.password !== '')
    throw usageError(
      '--url must have no user and password in it',
      'put the token into a variable and name it with --bearer-token-env-var',
    )
  const variable = values.text('bearer-token-env-var')
  if (variable !== undefined && !isVariable(variable))
    throw usageError('--bearer-token-env-var must be the name of a variable, not the token itself')
  const client = values.text('oauth-client-id')
  const resource = values.text('oauth-resource')
  return {
    url,
    ...(variable === undefined ? {} : { bearer_token_env_var: variable }),
    ...(resource === undefined ? {} : { oauth_resource: resource }),
    ...(client === undefined ? {} : { oauth: { client_id: client } }),
  }
}
