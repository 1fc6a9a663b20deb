import { hasHelp, helpFor, type Invocation, suggest, usageError } from '@parley/command-line'
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
