import type { Invocation } from '@parley/command-line'
import { completionFor, SHELLS } from '@parley/command-line/completion'
import { COMMANDS } from './table.ts'

export async function completion({ io, positionals }: Invocation): Promise<number> {
  const shell = SHELLS.find((name) => name === positionals[0]) ?? 'bash'
  io.out(completionFor(shell, COMMANDS))
  return 0
}
