/** A text with some of its escapes undone. */
export interface UnescapedText {
  readonly text: string
  /** Where in the source the character at a place begins; for the end of the text, the end of the source. */
  readonly sourceOf: (at: number) => number
}

/** A secret in a JSON string, in an HTML page, in a URL: each undone in one go, so that they may be mixed. */
const ESCAPES =
  /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([!-/:-@[-`{-~])|%([0-9a-f]{2})|&#x([0-9a-f]{1,8});?|&#([0-9]{1,8});?|&([a-z]{2,8});/gi
const MAY_ESCAPE = /[\\%&]/

/** How often escapes are undone: those of the body itself, and those of a text that was escaped once or twice before. */
export const UNDO_MAX = 3

/** Undoes one layer of escapes; `undefined`: there is none. */
export function undoEscapes({ text, sourceOf }: UnescapedText): UnescapedText | undefined {
  if (!MAY_ESCAPE.test(text)) return undefined
  const parts: string[] = []
  // Behind each escape, and at the beginning, a part begins that is as it was: where it does so here, and where it did.
  const here = [0]
  const there = [0]
  let [at, length] = [0, 0]
  for (const found of text.matchAll(ESCAPES)) {
    const char = charOf(found)
    if (char === undefined) continue
    parts.push(text.slice(at, found.index), char)
    length += found.index - at + 1
    at = found.index + found[0].length
    here.push(length)
    there.push(at)
  }
  if (at === 0) return undefined
  parts.push(text.slice(at))
  return {
    text: parts.join(''),
    sourceOf: (place) => {
      const part = lastUpTo(here, place)
      return sourceOf((there[part] ?? 0) + place - (here[part] ?? 0))
    },
  }
}

/** The index of the last of these ascending numbers that is not above the bound; the first one never is. */
function lastUpTo(ascending: readonly number[], bound: number): number {
  let [low, high] = [0, ascending.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((ascending[middle] ?? 0) <= bound) low = middle
    else high = middle - 1
  }
  return low
}

/** A key is printable ASCII: which character an escape stands for beyond that does not matter. */
function charOf([, unicode, hex, itself, percent, entityHex, entity, name]: RegExpExecArray): string | undefined {
  if (itself !== undefined) return itself
  if (name !== undefined) return ENTITIES[name.toLowerCase()]
  const digits = unicode ?? hex ?? percent ?? entityHex
  const code = digits === undefined ? Number.parseInt(entity ?? '', 10) : Number.parseInt(digits, 16)
  return code <= ASCII_LAST ? String.fromCharCode(code) : OTHER_CHAR
}
const ASCII_LAST = 0x7f
const OTHER_CHAR = '\uFFFF'

/** The names that HTML has for the printable characters of ASCII. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  ast: '*',
  bsol: '\\',
  colon: ':',
  comma: ',',
  commat: '@',
  dollar: '$',
  equals: '=',
  excl: '!',
  grave: '`',
  gt: '>',
  hat: '^',
  lbrace: '{',
  lcub: '{',
  lbrack: '[',
  lowbar: '_',
  lpar: '(',
  lsqb: '[',
  lt: '<',
  num: '#',
  percnt: '%',
  period: '.',
  plus: '+',
  quest: '?',
  quot: '"',
  rbrace: '}',
  rbrack: ']',
  rcub: '}',
  rpar: ')',
  rsqb: ']',
  semi: ';',
  sol: '/',
  underbar: '_',
  verbar: '|',
  vert: '|',
}
