import type { Invocation } from '../command-line/command.ts'
import { SHELLS, completionFor } from '../command-line/completion.ts'
import { COMMANDS } from './table.ts'

export async function completion({ io, positionals }: Invocation): Promise<number> {
  const shell = SHELLS.find((name) => name === positionals[0]) ?? 'bash'
  io.out(completionFor(shell, COMMANDS))
  return 0
}
