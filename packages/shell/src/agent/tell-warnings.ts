import type { Io } from '@parley/command-line'
import { inCommands } from '@parley/command-line/wording'

/** What a gateway warns of, beside the result. */
export function tellWarnings(io: Pick<Io, 'err'>, warnings: readonly string[]): void {
  for (const warning of warnings) io.err(`warning: ${inCommands(warning)}\n`)
}
