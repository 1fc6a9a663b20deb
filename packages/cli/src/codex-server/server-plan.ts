import { readFileSync } from 'node:fs'
import { type EngineChoice, type ServerLog, agentFacts, openServerLog } from '@parley/codex-server/start'
import { type Invocation, usageError } from '@parley/command-line'
import { chooseEngine } from './choose-engine.ts'

/** What a command line asks of a server on stdio. */
export interface ServerPlan {
  readonly choice: EngineChoice
  /** `-c key=value`, as they were given. */
  readonly overrides: readonly string[]
  readonly log: ServerLog
  readonly agent: ReturnType<typeof agentFacts>
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
  return { choice, overrides, log, agent: agentFacts(io.env, `parley/${ownVersionText()}`) }
}

/** Read without the schemas that the rest of this room brings along: a client waits. */
function ownVersionText(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown'
}
