import { type CommandError, usageError } from './command-error.ts'
import { suggest } from './suggest.ts'

/** As many as one reads. */
const SHOWN = 30

/** Something was named that is not in a closed set: says what is, and which of it was meant. */
export function noneOf(what: string, given: string, choices: readonly string[], help?: string): CommandError {
  const meant = suggest(given.toLowerCase(), choices)
  const hints = [...(meant === undefined ? [] : [`did you mean ${meant}?`]), ...(help === undefined ? [] : [help])]
  const listed = choices.slice(0, SHOWN).join(', ')
  const more = choices.length > SHOWN ? `, … ${choices.length - SHOWN} more` : ''
  return usageError(`${what} ${given} is none of: ${listed}${more}`, hints.length === 0 ? undefined : hints.join(' '))
}
