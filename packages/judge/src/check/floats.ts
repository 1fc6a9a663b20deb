import type { FloatTolerance } from '@parley/protocol'
import type { Mismatch } from './mismatch.ts'
import { readNumber } from './number-token.ts'
import { compareTokens, type TokenMatch } from './tokens.ts'

/** What reading two decimals and taking their difference may lose: an answer exactly at the bound must pass. */
const ROUNDING = 4 * Number.EPSILON

/** Token by token: numbers may be off by the tolerance, everything else is text. */
export function compareFloats(expected: Buffer, actual: Buffer, allowed: FloatTolerance): Mismatch | undefined {
  const matches: TokenMatch = (wantedBytes, wantedStart, wantedEnd, gotBytes, gotStart, gotEnd) => {
    const wanted = readNumber(wantedBytes, wantedStart, wantedEnd)
    if (wanted === undefined) return false
    const got = readNumber(gotBytes, gotStart, gotEnd)
    return got !== undefined && isNear(wanted, got, allowed)
  }
  return compareTokens(expected, actual, matches)
}

/** By either measure. Not-a-number is near itself alone, an infinity near itself alone, however wide the tolerance. */
function isNear(wanted: number, got: number, { absolute, relative }: FloatTolerance): boolean {
  if (Number.isNaN(wanted) || Number.isNaN(got)) return Number.isNaN(wanted) && Number.isNaN(got)
  if (wanted === got) return true
  if (!Number.isFinite(wanted) || !Number.isFinite(got)) return false
  const bound = Math.max(absolute, relative * Math.abs(wanted))
  if (bound === 0) return false
  return Math.abs(wanted - got) <= bound + ROUNDING * Math.max(Math.abs(wanted), Math.abs(got))
}
