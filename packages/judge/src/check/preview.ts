import { isSpace, skipSpaces, tokenEnd } from './bytes.ts'

/** What one preview holds at most; half of it stands before the place of interest. */
export const PREVIEW_BYTES = 200
const PREVIEW_TOKENS = 10
const QUOTED_BYTES = 40
const CUT = '…'

/** A piece of the answer for a message: short, on one line, without control characters. */
export function quote(bytes: Buffer, start: number, end: number): string {
  const cut = end - start > QUOTED_BYTES
  const text = bytes.toString('utf8', start, cut ? start + QUOTED_BYTES : end)
  const shown = text.replaceAll(/[^\P{C}\u200d]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
  return cut ? `${shown}${CUT}` : shown
}

/** The same for a longer piece, from a little before the byte that matters. */
export function quoteAround(bytes: Buffer, start: number, end: number, at: number): string {
  const from = at - QUOTED_BYTES / 4
  return from <= start || end - start <= QUOTED_BYTES ? quote(bytes, start, end) : `${CUT}${quote(bytes, from, end)}`
}

/** Up to ten tokens before and after the one that starts at `at`, a space between them. */
export function previewTokens(bytes: Buffer, at: number): Uint8Array {
  const room = PREVIEW_BYTES / 2 - Buffer.byteLength(CUT)
  const tokens = [...tokensBefore(bytes, at, room), ...tokensFrom(bytes, at, room)]
  return Buffer.concat(tokens.flatMap((token, index) => (index === 0 ? [token] : [Buffer.from(' '), token]))).subarray(
    0,
    PREVIEW_BYTES,
  )
}

function tokensBefore(bytes: Buffer, at: number, room: number): readonly Buffer[] {
  const floor = Math.max(0, at - room)
  const tokens: Buffer[] = []
  let end = at
  while (tokens.length < PREVIEW_TOKENS) {
    while (end > floor && isSpace(bytes[end - 1])) end -= 1
    let start = end
    while (start > floor && !isSpace(bytes[start - 1])) start -= 1
    if (start === end) break
    const cut = start === floor && floor > 0 && !isSpace(bytes[floor - 1])
    tokens.unshift(cut ? Buffer.concat([Buffer.from(CUT), bytes.subarray(start, end)]) : bytes.subarray(start, end))
    end = start
  }
  return tokens
}

function tokensFrom(bytes: Buffer, at: number, room: number): readonly Buffer[] {
  const tokens: Buffer[] = []
  const ceiling = Math.min(bytes.length, at + room)
  let start = skipSpaces(bytes, at)
  while (tokens.length <= PREVIEW_TOKENS && start < ceiling) {
    const end = Math.min(tokenEnd(bytes.subarray(0, ceiling), start), ceiling)
    const cut = end === ceiling && end < bytes.length && !isSpace(bytes[end])
    tokens.push(cut ? Buffer.concat([bytes.subarray(start, end), Buffer.from(CUT)]) : bytes.subarray(start, end))
    start = skipSpaces(bytes.subarray(0, ceiling), end)
  }
  return tokens
}

/** The bytes around a place as they are: half of the room before it, the rest after. */
export function previewBytes(bytes: Buffer, at: number): Uint8Array {
  const start = Math.max(0, at - PREVIEW_BYTES / 2)
  return bytes.subarray(start, start + PREVIEW_BYTES)
}
