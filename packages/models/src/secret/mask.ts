import { RUN_MIN, type Run, SecretRuns } from './secret-runs.ts'

/** In what a model writes, a run in common with the key is longer than a word or than how all keys of a provider begin. */
const WRITTEN_RUN_MAX = 16
const WRITTEN_RUN_PART = 3 / 4
/** What waits for the end of its line; a longer line is masked in parts, as plain text. */
const LINE_BYTES = 1024 * 1024
/** More than a key takes in any form: so much of a line that is too long is looked at again with what follows. */
const FORM_BYTES = 64 * 1024
const NOTHING = Buffer.alloc(0)

const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const STAR = 42
const ESCAPE = 2
const UNICODE_ESCAPE = 6
const AFTER_LINE_END = /(?<=[\r\n])/
const JSON_LINE = /^(?:data:)?\s*[[{"]/
/** An event that ends a stream, and a body that says that it failed, on both wires. */
const FAILURE = /"error"\s*:\s*[{"]|"type"\s*:\s*"(?:error|response\.failed|response\.error)"/

/**
 * Masks the key of a channel in what its upstream says, in every form that `SecretRuns` finds, whole or in part. As many bytes
 * stay, and JSON stays JSON. In a stream a line waits until it is whole.
 */
export class Mask {
  readonly #runs: SecretRuns | undefined
  readonly #writtenMin: number
  #held: Buffer[] = []
  #heldBytes = 0

  constructor(secret: string | null) {
    const length = secret?.length ?? 0
    this.#runs = secret === null || length < RUN_MIN ? undefined : new SecretRuns(secret)
    this.#writtenMin = Math.max(RUN_MIN, Math.min(WRITTEN_RUN_MAX, Math.ceil(length * WRITTEN_RUN_PART)))
  }

  push(piece: Buffer): Buffer {
    if (this.#runs === undefined) return piece
    const end = Math.max(piece.lastIndexOf(LINE_FEED), piece.lastIndexOf(CARRIAGE_RETURN)) + 1
    if (end > 0) {
      this.#hold(piece.subarray(0, end))
      const whole = this.#take()
      this.#hold(piece.subarray(end))
      return this.#lines(whole, this.#writtenMin)
    }
    this.#hold(piece)
    if (this.#heldBytes <= LINE_BYTES) return NOTHING
    const whole = this.#take()
    const cut = whole.length - FORM_BYTES
    // What begins behind the cut may go on in the next piece, and is looked at whole then.
    const begun = this.#find(whole.toString('latin1')).filter(({ start }) => start < cut)
    const safe = starred(whole, begun, this.#writtenMin)
    this.#hold(safe.subarray(cut))
    return safe.subarray(0, cut)
  }

  /** What waited, when nothing follows. */
  flush(): Buffer {
    return this.#lines(this.#take(), this.#writtenMin)
  }

  /** What programs read: a header, the name of a model. */
  text(text: string): string {
    return this.#plain(Buffer.from(text), this.#writtenMin).toString('utf8')
  }

  /** What people read about a failure: every run in common with the key is masked. */
  words(text: string): string {
    return this.#plain(Buffer.from(text), RUN_MIN).toString('utf8')
  }

  /** The body of a refusal, JSON or not, as `words`. */
  refusal(body: string): string {
    return this.#lines(Buffer.from(body), RUN_MIN).toString('utf8')
  }

  #plain(bytes: Buffer, least: number): Buffer {
    const runs = this.#find(bytes.toString('latin1'))
    return runs.length === 0 ? bytes : starred(bytes, runs, least)
  }

  #lines(bytes: Buffer, least: number): Buffer {
    const text = bytes.toString('latin1')
    if (this.#find(text).length === 0) return bytes
    const lines = text.split(AFTER_LINE_END).map((line) => {
      const shortest = FAILURE.test(line) ? RUN_MIN : least
      const mask = (part: string): Buffer => starred(Buffer.from(part, 'latin1'), this.#find(part), shortest)
      return JSON_LINE.test(line) ? maskedStrings(line, mask) : mask(line)
    })
    return Buffer.concat(lines)
  }

  /** In a text with one character for a byte. The key is ASCII, so that it can be found there, and all else stays as it is. */
  #find(text: string): readonly Run[] {
    return this.#runs?.find(text) ?? []
  }

  #hold(piece: Buffer): void {
    if (piece.length > 0) this.#held.push(piece)
    this.#heldBytes += piece.length
  }

  #take(): Buffer {
    const [first = NOTHING] = this.#held
    const whole = this.#held.length > 1 ? Buffer.concat(this.#held) : first
    this.#held = []
    this.#heldBytes = 0
    return whole
  }
}

function starred(bytes: Buffer, runs: readonly Run[], least: number): Buffer {
  const safe = Buffer.from(bytes)
  for (const { start, end, length } of runs) if (length >= least) safe.fill(STAR, start, end)
  return safe
}

/** A line of JSON with its strings masked, each by itself: a key may have quotes and commas like those around them. */
function maskedStrings(line: string, mask: (part: string) => Buffer): Buffer {
  const safe = Buffer.from(line, 'latin1')
  for (let start = line.indexOf('"') + 1; start > 0;) {
    let end = start
    while (end < line.length && line[end] !== '"') end += escapeLength(line, end)
    const masked = mask(line.slice(start, end))
    masked.copy(safe, start)
    for (let at = start; at < end; at += escapeLength(line, at)) mendEscape(line, safe, at)
    start = line.indexOf('"', end + 1) + 1
  }
  return safe
}

/** An escape of JSON is masked whole or not at all: a part of it would be no JSON. */
function mendEscape(line: string, safe: Buffer, at: number): void {
  const end = Math.min(at + escapeLength(line, at), line.length)
  if (end - at > 1 && safe.toString('latin1', at, end) !== line.slice(at, end)) safe.fill(STAR, at, end)
}

/** How much of a string of JSON belongs together: `x`, `\n` or `\u000a`. */
function escapeLength(line: string, at: number): number {
  if (line[at] !== '\\') return 1
  return line[at + 1] === 'u' ? UNICODE_ESCAPE : ESCAPE
}
