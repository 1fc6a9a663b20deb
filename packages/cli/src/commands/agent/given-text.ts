import { type Invocation, usageError } from '@parley/command-line'
import { readGivenText } from '@parley/command-line/commands'

interface TextLimits {
  /** What it is for, after `TEXT is missing: `. */
  readonly doc: string
  readonly max: number
  /** What to do with more. */
  readonly tooLong: string
}

/** TEXT of a command: a word of the line, standard input, or all after `--`. */
export function givenText({ positionals, rest, io }: Invocation, { doc, max, tooLong }: TextLimits): string {
  const given = positionals[1]
  if (given !== undefined && rest.length > 0) throw usageError('TEXT is given twice: before and after --')
  if (given === '-') return readGivenText({ what: 'TEXT', file: '-', cwd: io.cwd }, max)
  const text = given ?? rest.join(' ')
  if (text.trim() === '')
    throw usageError(`TEXT is missing: ${doc}`, '- reads it from stdin; a text that begins with - goes after --')
  if (text.length > max) throw usageError('TEXT is too long', tooLong)
  return text
}
