/** What is not seen, or changes how others look: controls, formats, unassigned, halves of pairs, separators, spaces that are not the space. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000⟦]/u
const EACH_UNSEEN = new RegExp(UNSEEN, 'gu')
const HEX = 16
const HEX_DIGITS = 4
const ASTRAL_DIGITS = 8

const hexOf = (char: string, digits: number): string => (char.codePointAt(0) ?? 0).toString(HEX).padStart(digits, '0')
const marked = (char: string): string => `⟦U+${hexOf(char, HEX_DIGITS).toUpperCase()}⟧`

/**
 * A text in which nothing is hidden: what is not seen, or turns around what is, stands as `⟦U+202E⟧`. A `⟦` of the text itself is
 * written so too, so that no two texts look the same. Line ends and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replaceAll(EACH_UNSEEN, (char) => (char === '\n' || char === '\t' ? char : marked(char)))
}

/** The same on one line: line ends and tabs are marked as well, and spaces where nobody would see or count them. */
export const visibleLine = (text: string): string => withSpaces(text.replaceAll(EACH_UNSEEN, marked))

/**
 * A name that strangers chose, on one line and so that no other looks like it: letters of other scripts are marked too where they
 * could be taken for Latin ones, and so are marks over letters and other forms of a character. Names in a script of their own stay
 * readable.
 */
export const visibleName = (name: string): string => withSpaces(name.replaceAll(PIECE, shownPiece))

/** A text in quotes as CEL reads it, with the same characters escaped. Half of a surrogate pair cannot be written in CEL. */
export function quotedText(text: string): string {
  return JSON.stringify(text).replaceAll(EACH_UNSEEN, (char) =>
    hexOf(char, 1).length > HEX_DIGITS ? `\\U${hexOf(char, ASTRAL_DIGITS)}` : `\\u${hexOf(char, HEX_DIGITS)}`,
  )
}

const withSpaces = (text: string): string => text.replaceAll(/^ +| +$|(?<= ) +/g, (spaces) => marked(' ').repeat(spaces.length))

/** A word, or a character between words. */
const PIECE = /[\p{L}\p{M}\p{N}]+|./gsu
/** Scripts with letters that look like Latin ones. */
const FOREIGN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Lisu}\p{Script=Coptic}\p{Script=Deseret}]/u
/** Those of them that are written like a Latin letter or a digit. A word of nothing else could be a Latin one. */
const LOOKS_LATIN = /^[аАВсСԁԀеЕһНіІјЈкКӏӀМоОрРԛԚѕЅТуУүҮѵѴԝԜхХзЗбьΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορυχϲϳօսոհցզյւ0-9]+$/u
/** Marks that are drawn over a letter, punctuation that looks like that of ASCII, and Latin letters that look like others. */
const LIKE_ASCII = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f\p{P}\p{Sk}\p{Sm}\p{Lm}ıȷɑɡɩʟɴʀʏꜱᴀ-ᴢǀǃ]/u

function shownPiece(piece: string): string {
  const isLatin = /\p{Script=Latin}/u.test(piece) || LOOKS_LATIN.test(piece)
  return Array.from(piece, (char) => (isOdd(char) || (isLatin && FOREIGN.test(char)) ? marked(char) : char)).join('')
}

function isOdd(char: string): boolean {
  if (char >= ' ' && char <= '~') return false
  // Full-width, mathematical and other forms are written otherwise when they are normalised.
  return UNSEEN.test(char) || LIKE_ASCII.test(char) || char.normalize('NFKC') !== char
}
