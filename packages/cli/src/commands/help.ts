import type { Invocation } from '../command-line/command.ts'
import { usageError } from '../command-line/command-error.ts'
import { hasHelp, helpFor } from '../command-line/help.ts'
import { suggest } from '../command-line/suggest.ts'
import { COMMANDS, GROUPS } from './table.ts'

export async function help({ io, positionals }: Invocation): Promise<number> {
  const words = positionals.join(' ')
  if (!hasHelp(words, GROUPS)) {
    const meant = suggest(
      words,
      [...COMMANDS, ...GROUPS].map(({ name }) => name),
    )
    throw usageError(
      `there is no command and no group ${words}`,
      meant === undefined ? 'parley --help lists them' : `did you mean parley help ${meant}?`,
    )
  }
  io.out(helpFor(words, GROUPS, io.typed))
  return 0
}
