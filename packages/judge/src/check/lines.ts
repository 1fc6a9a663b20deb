import { isSpace, LINE_FEED, samePiece, samePrefix } from './bytes.ts'
import type { Mismatch } from './mismatch.ts'
import { previewBytes, quoteAround } from './preview.ts'

const CARRIAGE_RETURN = 13

/** How lines are cut: where a line's text ends, and where the answer's last line ends. */
export interface LineRule {
  /** The end of the text of the line in `start..end`, its line feed not counted. */
  textEnd(bytes: Buffer, start: number, end: number): number
  /** What comes after it is not looked at. */
  answerEnd(bytes: Buffer): number
}

/** White space at the end of a line, and empty lines at the end, do not count. */
export const TRIMMED_LINES: LineRule = {
  textEnd: (bytes, start, end) => {
    let at = end
    while (at > start && isSpace(bytes[at - 1])) at -= 1
    return at
  },
  answerEnd: (bytes) => {
    let at = bytes.length
    while (at > 0 && isSpace(bytes[at - 1])) at -= 1
    return at
  },
}

/** Every byte of a line counts, save CRLF for LF; a line feed at the very end may be there or not. */
export const WHOLE_LINES: LineRule = {
  textEnd: (bytes, start, end) => (end < bytes.length && end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end),
  answerEnd: (bytes) => (bytes[bytes.length - 1] === LINE_FEED ? bytes.length - 1 : bytes.length),
}

/** Line by line, in order. */
export function compareLines(expected: Buffer, actual: Buffer, rule: LineRule): Mismatch | undefined {
  const start = startOfLine(expected, samePrefix(expected, actual))
  const wanted = new LineCursor(expected, rule, start)
  const got = new LineCursor(actual, rule, start)
  for (;;) {
    const more = wanted.next()
    if (got.next() !== more) return describe(wanted, got)
    if (!more) return undefined
    if (!samePiece(expected, wanted.start, wanted.end, actual, got.start, got.end)) return describe(wanted, got)
  }
}

function startOfLine(bytes: Buffer, at: number): number {
  return at === 0 ? 0 : bytes.lastIndexOf(LINE_FEED, at - 1) + 1
}

/** Walks over the lines of an answer without taking them out of it. An empty answer is one empty line. */
export class LineCursor {
  readonly bytes: Buffer
  readonly #rule: LineRule
  readonly #answerEnd: number
  #next: number
  /** The line's first byte and the end of its text. */
  start = 0
  end = 0
  /** False before the first line and after the last. */
  inside = false

  constructor(bytes: Buffer, rule: LineRule, from: number) {
    this.bytes = bytes
    this.#rule = rule
    this.#answerEnd = rule.answerEnd(bytes)
    this.#next = from
  }

  /** Goes to the next line; false when there is none. */
  next(): boolean {
    this.inside = this.#next <= this.#answerEnd
    this.start = this.inside ? this.#next : this.#answerEnd
    // Lines are short: a call into the machine's own search would cost more than this loop.
    let end = this.start
    while (end < this.#answerEnd && this.bytes[end] !== LINE_FEED) end += 1
    this.end = this.#rule.textEnd(this.bytes, this.start, end)
    this.#next = end + 1
    return this.inside
  }
}

/** The place of the line that starts at `start` among all, from 1. */
export function lineNumber(bytes: Buffer, start: number): number {
  let count = 1
  for (let at = bytes.indexOf(LINE_FEED); at !== -1 && at < start; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}

function describe(wanted: LineCursor, got: LineCursor): Mismatch {
  const at = differenceIn(wanted, got)
  return {
    message: words(wanted, got, at),
    expectedPreview: previewBytes(wanted.bytes, wanted.start + at),
    actualPreview: previewBytes(got.bytes, got.start + at),
  }
}

function differenceIn(wanted: LineCursor, got: LineCursor): number {
  return samePrefix(wanted.bytes.subarray(wanted.start, wanted.end), got.bytes.subarray(got.start, got.end))
}

function words(wanted: LineCursor, got: LineCursor, at: number): string {
  const expected = quoteLine(wanted, at)
  const actual = quoteLine(got, at)
  if (!got.inside) return `answer ends after line ${lineNumber(wanted.bytes, wanted.start) - 1}, expected ${expected}`
  const number = lineNumber(got.bytes, got.start)
  return wanted.inside
    ? `line ${number}: expected ${expected}, got ${actual}`
    : `answer goes on after line ${number - 1} with ${actual}`
}

const quoteLine = ({ bytes, start, end }: LineCursor, at: number): string => `"${quoteAround(bytes, start, end, start + at)}"`
