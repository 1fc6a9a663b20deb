import { type Mount, MountName, ServerSpec, type MountPlace, type ToolInput, WorkerName } from '@parley/protocol'
import { columns, named, prose, type Cell } from '@parley/screen'
import { type Invocation, usageError, type Values } from '@parley/command-line'
import { envPairs, readGivenText, show } from '@parley/command-line/commands'
import { agentName, MOUNT_WORDS, mountNotes, toldByOption } from '@parley/shell'
import { withAgent } from './agents.ts'

const HEADER = ['name', 'state', 'tools', 'place', 'server', 'error']
const ENV_FILE_BYTES = 1024 * 1024
const FOR_COMMANDS = ['env', 'env-from', 'place', 'folder', 'network'] as const

type NamedValues = { readonly name: string; readonly value: string }[]

export const mountAttach = (invocation: Invocation): Promise<number> => {
  const { positionals, values } = invocation
  const name = MountName.safeParse(positionals[1])
  if (!name.success) throw usageError(`NAME ${JSON.stringify(positionals[1])} ${name.error.issues[0]?.message}`)
  const server = serverOf(invocation)
  const options = optionsOf(values)
  return withAgent(invocation, async (caller, agent_id) => {
    const mount = await caller.call('mount.attach', { agent_id, name: name.data, server, options }).catch((error: unknown) => {
      throw toldByOption(error, MOUNT_WORDS)
    })
    const code = show(invocation, mount, `${mount.name} is mounted for ${await agentName(caller, agent_id)}.`)
    for (const note of mountNotes(ServerSpec.parse(server))) invocation.io.err(`${note}\n`)
    return code
  })
}

export const mountDetach = (invocation: Invocation): Promise<number> =>
  withAgent(invocation, async (caller, agent_id) => {
    const result = await caller.call('mount.detach', { agent_id, name: invocation.positionals[1] ?? '' })
    const agent = await agentName(caller, agent_id)
    return show(invocation, result, `${result.name} ${result.detached ? 'is taken off' : 'was not mounted for'} ${agent}.`)
  })

export const mountList = (invocation: Invocation): Promise<number> =>
  withAgent(invocation, async (caller, agent_id) => {
    const { io, values } = invocation
    const result = await caller.call('mount.list', { agent_id })
    if (result.items.length === 0 && !values.has('json')) io.err('nothing is mounted; parley mount attach mounts a server\n')
    return show(invocation, result, columns([HEADER, ...result.items.map(rowOf)], io.screen(), { mayGo: ['place'] }))
  })

function serverOf(invocation: Invocation): ToolInput<'mount.attach'>['server'] {
  const { positionals, rest, values } = invocation
  const url = positionals[2]
  if ((url === undefined) === (rest.length === 0))
    throw usageError('mount attach needs either a URL or a command', 'parley mount attach AGENT NAME -- CMD ARGS…')
  if (url === undefined) {
    if (values.has('header')) throw usageError('--header goes with a URL')
    const [command = '', ...args] = rest
    const folder = values.text('folder')
    return {
      kind: 'stdio',
      command,
      args,
      env: envOf(invocation),
      place: placeOf(values.text('place') ?? 'boxed'),
      network: values.has('network'),
      ...(folder === undefined ? {} : { folder }),
    }
  }
  const stray = FOR_COMMANDS.find((option) => values.has(option))
  if (stray !== undefined) throw usageError(`--${stray} goes with a command`)
  const server = ServerSpec.safeParse({ kind: 'http', url, headers: values.all('header').map(headerOf) })
  if (server.success) return server.data
  throw usageError(`SERVER ${server.error.issues[0]?.message}, not ${JSON.stringify(url)}`)
}

/** Variables of `--env-from`, and those of `--env`, which win. */
function envOf({ io, values }: Pick<Invocation, 'io' | 'values'>): NamedValues {
  const file = values.text('env-from')
  const given = { what: '--env-from', file: file ?? '', cwd: io.cwd }
  const lines = file === undefined ? [] : readGivenText(given, ENV_FILE_BYTES).split(/\r?\n/)
  const ofFile = lines.filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
  const env = { ...envPairs(`--env-from ${file}: a line`, ofFile), ...envPairs('--env', values.all('env')) }
  return Object.entries(env).map(([name, value]) => ({ name, value }))
}

/** The value is not repeated in what is said of it: it may be a secret. */
function headerOf(text: string): NamedValues[number] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw usageError("--header must be 'Name: value'")
  return { name, value }
}

function placeOf(text: string): MountPlace {
  if (text === 'boxed' || text === 'host') return { kind: text }
  const executor = WorkerName.safeParse(/^executor:(.*)$/.exec(text)?.[1])
  if (executor.success) return { kind: 'executor', executor: executor.data }
  throw usageError(
    `--place must be boxed, host or executor:NAME, not ${JSON.stringify(text)}`,
    'parley executor list shows the names',
  )
}

function optionsOf(values: Values): ToolInput<'mount.attach'>['options'] {
  return {
    plain: values.has('plain'),
    eager: values.has('eager'),
    ...chosen(values, 'allow', 'deny'),
    resources: chosen(values, 'allow-resource', 'deny-resource'),
    prompts: chosen(values, 'allow-prompt', 'deny-prompt'),
  }
}

function chosen(values: Values, allowed: string, denied: string): { allow?: string[]; deny: string[] } {
  const allow = values.all(allowed)
  return { ...(allow.length === 0 ? {} : { allow: [...allow] }), deny: [...values.all(denied)] }
}

function rowOf({ name, state, server }: Mount): Cell[] {
  const shown = ServerSpec.safeParse(server).data
  const what = shown === undefined ? '' : shown.kind === 'http' ? shown.url : [shown.command, ...shown.args].join(' ')
  return [named(name), state?.state ?? 'asleep', String(state?.tools ?? ''), placeText(shown), what, prose(state?.error ?? '')]
}

function placeText(server: ServerSpec | undefined): string {
  if (server?.kind !== 'stdio') return ''
  return server.place.kind === 'executor' ? `executor ${server.place.executor}` : server.place.kind
}
