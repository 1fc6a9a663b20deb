import { arch, platform, release } from 'node:os'
import { readFileSync } from 'node:fs'
import type { Invocation } from '../command-line/command.ts'
import { usageError } from '../command-line/command-error.ts'
import { type EngineChoice, chooseEngine } from './choose-engine.ts'
import { type ServerLog, openServerLog } from './server-log.ts'

/** What a command line asks of a server on stdio. */
export interface ServerPlan {
  readonly choice: EngineChoice
  /** `-c key=value`, as they were given. */
  readonly overrides: readonly string[]
  readonly log: ServerLog
  readonly agent: { readonly platform: string; readonly terminal: string; readonly product: string }
}

/** Reads the command line and says which engine it is. Throws `CommandError`. */
export function planServer({ io, values }: Invocation, command: string): ServerPlan {
  if (values.has('port') || values.has('host'))
    throw usageError(
      `${command} speaks on stdin and stdout alone`,
      `parley proxy --port 7401 -- parley ${command} serves it over HTTP`,
    )
  const overrides = values.all('config')
  for (const override of overrides)
    if (!/^[^=\s]+\s*=/.test(override))
      throw usageError(`-c must be KEY=VALUE, not ${JSON.stringify(override)}`, '-c model="gpt-5"')
  const log = openServerLog(io.env, io.err, io.now)
  const choice = chooseEngine({ engine: values.text('engine'), codex: values.text('codex'), env: io.env, cwd: io.cwd })
  log('info', 'parley_codex', `engine ${choice.engine}: ${choice.why}`)
  return { choice, overrides, log, agent: agentOf(io.env) }
}

/** As Codex writes them: `Debian 12.0.0; x86_64`, `xterm`. */
function agentOf(env: Readonly<Record<string, string | undefined>>): ServerPlan['agent'] {
  const machine = arch() === 'x64' ? 'x86_64' : arch()
  const terminal = env['TERM_PROGRAM'] || env['TERM'] || 'unknown'
  return {
    platform: `${systemName()}; ${machine}`,
    terminal: terminal.split('-')[0] ?? terminal,
    product: `parley/${ownVersionText()}`,
  }
}

function systemName(): string {
  if (platform() === 'darwin') return `Mac OS ${release()}`
  try {
    const text = readFileSync('/etc/os-release', 'utf8')
    const field = (name: string): string | undefined => new RegExp(`^${name}="?([^"\\n]+)"?$`, 'm').exec(text)?.[1]
    const name = field('NAME')?.split(' ')[0] ?? 'Linux'
    const [major = '0', minor = '0', patch = '0'] = (field('VERSION_ID') ?? '').split('.')
    return `${name} ${major || '0'}.${minor}.${patch}`
  } catch {
    return `${platform()} ${release()}`
  }
}

/** Read without the schemas that the rest of this room brings along: a client waits. */
function ownVersionText(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown'
}
