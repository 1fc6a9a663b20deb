/** Cuts a line as a shell would, without running one: quotes and backslashes only. `undefined` for a line that does not end. */
export function shellWords(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: "'" | '"' | undefined
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (quote === "'") {
      if (character === "'") quote = undefined
      else word = (word ?? '') + character
    } else if (character === '\\') {
      const next = line.charAt(at + 1)
      if (next === '') return undefined
      const kept = quote === '"' && !'"\\$`\n'.includes(next) ? `\\${next}` : next
      // A backslash before the end of a line joins it with the next one.
      if (next !== '\n') word = (word ?? '') + kept
      at += 1
    } else if (quote === '"') {
      if (character === '"') quote = undefined
      else word = (word ?? '') + character
    } else if (character === "'" || character === '"') {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + character
  }
  if (quote !== undefined) return undefined
  if (word !== undefined) words.push(word)
  return words
}

/** Codex shows a command as one line that was quoted from an argv; what does not read as one is a script. */
export function argvOf(line: string): readonly string[] {
  const words = shellWords(line)
  return words === undefined || words.length === 0 ? ['bash', '-lc', line] : words
}
