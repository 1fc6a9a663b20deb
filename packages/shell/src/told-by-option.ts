import { ToolError } from '@parley/protocol'
import { CommandError } from '@parley/command-line'
import { inCommands } from '@parley/command-line/wording'

const WRONG_USAGE = 2

/** The gateway speaks of fields. Whoever typed a line is told by the option or the word that a field was made from. */
export function toldByOption(error: unknown, words: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ToolError) || error.field === undefined) return error
  const word = words[error.field] ?? words[error.field.split(/[.[]/)[0] ?? '']
  if (word === undefined) return error
  const said = error.message.startsWith(`${error.field}: `) ? error.message.slice(error.field.length + 2) : error.message
  return new CommandError(error.code, `${word}: ${said}`, {
    exitCode: error.code === 'invalid_argument' ? WRONG_USAGE : 1,
    cause: error,
    ...(error.hint === undefined ? {} : { hint: inCommands(error.hint) }),
  })
}
