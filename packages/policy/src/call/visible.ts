/** What is not seen, or changes how others look: controls, formats, unassigned, halves of pairs, separators, spaces that are not the space. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000⟦]/gu
const HEX = 16
const HEX_DIGITS = 4
const ASTRAL_DIGITS = 8

const hexOf = (char: string, digits: number): string => (char.codePointAt(0) ?? 0).toString(HEX).padStart(digits, '0')

/**
 * A text in which nothing is hidden: what is not seen, or turns around what is, stands as `⟦U+202E⟧`. A `⟦` of the text itself is
 * written so too, so that no two texts look the same. Line ends and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replaceAll(UNSEEN, (char) =>
    char === '\n' || char === '\t' ? char : `⟦U+${hexOf(char, HEX_DIGITS).toUpperCase()}⟧`,
  )
}

/** A text in quotes as CEL reads it, with the same characters escaped. Half of a surrogate pair cannot be written in CEL. */
export function quotedText(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, (char) =>
    hexOf(char, 1).length > HEX_DIGITS ? `\\U${hexOf(char, ASTRAL_DIGITS)}` : `\\u${hexOf(char, HEX_DIGITS)}`,
  )
}
