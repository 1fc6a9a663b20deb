import { isSpace, samePrefix, skipSpaces, tokenEnd } from './bytes.ts'
import type { Mismatch } from './mismatch.ts'
import { previewTokens, quote } from './preview.ts'

/** Whether two tokens that are not the same bytes count as the same all the same. */
export type TokenMatch = (
  expected: Buffer,
  expectedStart: number,
  expectedEnd: number,
  actual: Buffer,
  actualStart: number,
  actualEnd: number,
) => boolean

const never: TokenMatch = () => false

/** Token by token, whatever white space stands between them. */
export function compareTokens(expected: Buffer, actual: Buffer, matches: TokenMatch = never): Mismatch | undefined {
  const place = firstDifference(expected, actual, matches)
  return place === undefined ? undefined : describe(expected, actual, place)
}

/** Whether the answers hold the same tokens. */
export const sameTokens = (expected: Buffer, actual: Buffer): boolean => firstDifference(expected, actual, never) === undefined

interface Place {
  readonly expectedAt: number
  readonly actualAt: number
}

/** One walk over both: the same bytes go by together, and only where they differ is it asked what they belong to. */
function firstDifference(expected: Buffer, actual: Buffer, matches: TokenMatch): Place | undefined {
  const expectedLength = expected.length
  const actualLength = actual.length
  let expectedAt = samePrefix(expected, actual)
  let actualAt = expectedAt
  for (;;) {
    while (expectedAt < expectedLength && actualAt < actualLength && expected[expectedAt] === actual[actualAt]) {
      expectedAt += 1
      actualAt += 1
    }
    if (betweenTokens(expected, expectedAt) && betweenTokens(actual, actualAt)) {
      expectedAt = skipSpaces(expected, expectedAt)
      actualAt = skipSpaces(actual, actualAt)
      if (expectedAt === expectedLength || actualAt === actualLength) {
        return expectedAt === expectedLength && actualAt === actualLength ? undefined : { expectedAt, actualAt }
      }
      if (expected[expectedAt] === actual[actualAt]) continue
    }
    const before = expectedAt - startOfToken(expected, expectedAt)
    const expectedStart = expectedAt - before
    const actualStart = actualAt - before
    expectedAt = tokenEnd(expected, expectedAt)
    actualAt = tokenEnd(actual, actualAt)
    if (!matches(expected, expectedStart, expectedAt, actual, actualStart, actualAt)) {
      return { expectedAt: expectedStart, actualAt: actualStart }
    }
  }
}

/** Not inside a token: one ends here, or white space goes on, or the next one begins. */
const betweenTokens = (bytes: Buffer, at: number): boolean =>
  at === 0 || at === bytes.length || isSpace(bytes[at]) || isSpace(bytes[at - 1])

/** The first difference may lie inside a token: its start is where the white space before it ends. */
function startOfToken(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && !isSpace(bytes[start - 1])) start -= 1
  return start
}

function describe(expected: Buffer, actual: Buffer, { expectedAt, actualAt }: Place): Mismatch {
  return {
    message: words(expected, actual, { expectedAt, actualAt }),
    expectedPreview: previewTokens(expected, expectedAt),
    actualPreview: previewTokens(actual, actualAt),
  }
}

function words(expected: Buffer, actual: Buffer, { expectedAt, actualAt }: Place): string {
  const number = countTokens(expected, expectedAt) + 1
  const wanted = quote(expected, expectedAt, tokenEnd(expected, expectedAt))
  const got = quote(actual, actualAt, tokenEnd(actual, actualAt))
  if (actualAt === actual.length) {
    return number === 1 ? `answer is empty, expected ${wanted}` : `answer ends after token ${number - 1}, expected ${wanted}`
  }
  if (expectedAt === expected.length) {
    return number === 1 ? `expected nothing, got ${got}` : `answer goes on after token ${number - 1} with ${got}`
  }
  return `token ${number}: expected ${wanted}, got ${got}`
}

function countTokens(bytes: Buffer, until: number): number {
  let count = 0
  let at = skipSpaces(bytes, 0)
  while (at < until) {
    count += 1
    at = skipSpaces(bytes, tokenEnd(bytes, at))
  }
  return count
}
