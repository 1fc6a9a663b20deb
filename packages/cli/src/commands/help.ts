import type { Invocation } from '../command-line/command.ts'
import { usageError } from '../command-line/command-error.ts'
import { helpFor } from '../command-line/help.ts'
import { suggest } from '../command-line/suggest.ts'
import { COMMANDS } from './table.ts'

export async function help({ io, positionals }: Invocation): Promise<number> {
  const words = positionals.join(' ')
  const names = COMMANDS.map(({ name }) => name)
  if (words !== '' && !names.some((name) => name === words || name.startsWith(`${words} `))) {
    const meant = suggest(words, names)
    throw usageError(
      `there is no command ${words}`,
      meant === undefined ? 'parley --help lists the commands' : `did you mean parley ${meant}?`,
    )
  }
  io.out(helpFor(words, COMMANDS))
  return 0
}
