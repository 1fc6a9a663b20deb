import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { hasServer, readConfig, readServers, rawServer, withServer, writeConfig } from '@parley/codex/config'
import { CommandError, type Invocation } from '@parley/command-line'
import { checkGiven, show } from '@parley/command-line/commands'
import { homeOf } from '../../data/person-folders.ts'
import { named, serversFileOf } from '../../mcp-config/servers-file.ts'

interface ServerExchange {
  readonly taken: readonly string[]
  readonly kept: readonly string[]
  readonly text: string
}

export async function mcpImport(invocation: Invocation): Promise<number> {
  const file = serversFileOf(invocation)
  const from = codexFileOf(invocation, 'from')
  const given = invocation.values.text('from')
  // Only the usual place may be empty.
  if (given !== undefined) checkGiven({ what: '--from', file: given, cwd: invocation.io.cwd })
  const source = await named(from, () => readConfig(from))
  let exchange: ServerExchange | undefined
  await named(from, () =>
    file.change((text) => {
      exchange = exchanged(source, text, invocation)
      return exchange.text
    }),
  )
  return told(invocation, exchange, from, file.path)
}

export async function mcpExport(invocation: Invocation): Promise<number> {
  const file = serversFileOf(invocation)
  const to = codexFileOf(invocation, 'to')
  // What is not there yet is made.
  if (existsSync(to)) checkGiven({ what: '--to', file: to, cwd: '/' })
  const before = await named(to, () => readConfig(to))
  const exchange = await named(to, async () => exchanged(await file.read(), before, invocation))
  if (exchange.text !== before) await named(to, () => writeConfig(to, exchange.text))
  return told(invocation, exchange, file.path, to)
}

function exchanged(source: string, target: string, { values }: Invocation): ServerExchange {
  const only = values.all('only')
  const names = readServers(source).servers.map(({ name }) => name)
  const missing = only.find((name) => !names.includes(name))
  if (missing !== undefined)
    throw new CommandError('not_found', `there is no MCP server named '${missing}'`, { hint: `there is: ${names.join(', ')}` })
  const taken: string[] = []
  const kept: string[] = []
  let text = target
  for (const name of names.filter((candidate) => only.length === 0 || only.includes(candidate))) {
    if (!values.has('force') && hasServer(text, name)) kept.push(name)
    else {
      text = withServer(text, name, rawServer(source, name))
      taken.push(name)
    }
  }
  return { taken, kept, text }
}

function told(invocation: Invocation, exchange: ServerExchange | undefined, from: string, to: string): number {
  const { taken, kept } = exchange ?? { taken: [], kept: [] }
  const done = `${taken.length === 0 ? 'Nothing was taken over' : `Taken over: ${taken.join(', ')}`} (${from} to ${to}).`
  const left = kept.length === 0 ? '' : `\nLeft as they are: ${kept.join(', ')}; --force replaces them.`
  return show(invocation, { from, to, taken, kept }, done + left)
}

/** Codex's own file, or the one that is named. */
function codexFileOf({ io, values }: Invocation, option: 'from' | 'to'): string {
  const given = values.text(option)
  return given === undefined
    ? join(io.env['CODEX_HOME'] ?? join(homeOf(io.env), '.codex'), 'config.toml')
    : resolve(io.cwd, given)
}
