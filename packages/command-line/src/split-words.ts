import { usageError } from './command-error.ts'

/** What a backslash takes its meaning from between double quotes; before anything else it stands for itself. */
const ESCAPED_IN_QUOTES = /["\\$`]/

/** Words of `--command` as a shell reads them, quotes and backslashes included; nothing is expanded and nothing is run. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    const next = line.charAt(at + 1)
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character
      word ??= ''
    } else if (quote !== '' && character === quote) quote = ''
    else if (character === '\\' && next !== '' && (quote === '' || (quote === '"' && ESCAPED_IN_QUOTES.test(next)))) {
      at += 1
      word = `${word ?? ''}${next}`
    } else word = `${word ?? ''}${character}`
  }
  if (quote !== '') throw usageError(`--command has a ${quote} that is not closed`)
  return word === undefined ? words : [...words, word]
}
