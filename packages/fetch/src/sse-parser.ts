import { WireError } from './wire-error.ts'

/** One event of a stream. `id` is the stream's last event id, also when this event did not carry one. */
export interface SseEvent {
  readonly type: string
  readonly data: string
  readonly id: string | undefined
}

const LF = 10
const CR = 13
const COLON = 58
const SPACE = 32
const DATA_LENGTH = 4
/** A longer id is passed over: it is kept, and sent with the next request. */
const ID_CHARS = 1_024

/**
 * Reads `text/event-stream` from chunks as they come. Lines are cut as bytes and decoded whole, so a character that is
 * split over two chunks is read right. Holds at most one event, of `eventBytes` at most.
 */
export class SseParser {
  readonly #eventBytes: number
  readonly #onEvent: (event: SseEvent) => void
  #parts: Buffer[] = []
  #heldBytes = 0
  #dataBytes = 0
  #data: string | undefined
  #type = ''
  #afterCr = false
  #started = false
  /** The last event id, for `Last-Event-ID`. */
  lastEventId: string | undefined
  /** What the server asked for with `retry:`. */
  retryMs: number | undefined

  constructor(eventBytes: number, onEvent: (event: SseEvent) => void) {
    this.#eventBytes = eventBytes
    this.#onEvent = onEvent
  }

  /** What is held of an event that has not ended. */
  get heldBytes(): number {
    return this.#heldBytes + this.#dataBytes
  }

  push(chunk: Buffer): void {
    let start = this.#skip(chunk)
    // Almost every stream ends its lines with LF alone: then one native search per line is all.
    const hasCr = chunk.indexOf(CR, start) !== -1
    while (start < chunk.length) {
      const end = hasCr ? lineEnd(chunk, start) : chunk.indexOf(LF, start)
      if (end === -1) return this.#hold(chunk.subarray(start))
      this.#line(chunk, start, end)
      start = end + 1
      if (chunk[end] === CR) {
        if (start === chunk.length) this.#afterCr = true
        else if (chunk[start] === LF) start++
      }
    }
  }

  /** A line feed that belongs to the carriage return of the chunk before. */
  #skip(chunk: Buffer): number {
    if (!this.#afterCr || chunk.length === 0) return 0
    this.#afterCr = false
    return chunk[0] === LF ? 1 : 0
  }

  #hold(rest: Buffer): void {
    this.#heldBytes += rest.length
    if (this.#heldBytes + this.#dataBytes > this.#eventBytes) throw tooLarge(this.#eventBytes)
    this.#parts.push(rest)
  }

  #line(chunk: Buffer, start: number, end: number): void {
    if (this.#parts.length === 0) return this.#field(chunk, start, end)
    this.#parts.push(chunk.subarray(start, end))
    const whole = Buffer.concat(this.#parts)
    this.#parts = []
    this.#heldBytes = 0
    this.#field(whole, 0, whole.length)
  }

  #field(bytes: Buffer, lineStart: number, end: number): void {
    const start = this.#started ? lineStart : afterByteOrderMark(bytes, lineStart)
    this.#started = true
    if (start === end) return this.#dispatch()
    if (isData(bytes, start, end)) return this.#addData(bytes, start + DATA_LENGTH, end)
    if (bytes[start] === COLON) return
    const line = bytes.toString('utf8', start, end)
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1)
    if (name === 'event') this.#type = value
    else if (name === 'id' && value.length <= ID_CHARS && !value.includes('\0')) this.lastEventId = value
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value)
  }

  #addData(bytes: Buffer, colon: number, end: number): void {
    const start = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1
    this.#dataBytes += Math.max(0, end - start)
    if (this.#dataBytes > this.#eventBytes) throw tooLarge(this.#eventBytes)
    const value = start < end ? bytes.toString('utf8', start, end) : ''
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
  }

  #dispatch(): void {
    const data = this.#data
    const type = this.#type === '' ? 'message' : this.#type
    this.#data = undefined
    this.#type = ''
    this.#dataBytes = 0
    if (data !== undefined) this.#onEvent({ type, data, id: this.lastEventId })
  }
}

/** Looked for in the first line, not in the first chunk, which may hold a part of it. */
function afterByteOrderMark(bytes: Buffer, start: number): number {
  return bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf ? start + 3 : start
}

function isData(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < 4) return false
  if (bytes[start] !== 100 || bytes[start + 1] !== 97 || bytes[start + 2] !== 116 || bytes[start + 3] !== 97) return false
  return end - start === 4 || bytes[start + 4] === COLON
}

function lineEnd(chunk: Buffer, start: number): number {
  for (let index = start; index < chunk.length; index++) {
    const byte = chunk[index]
    if (byte === LF || byte === CR) return index
  }
  return -1
}

function tooLarge(limit: number): WireError {
  return new WireError('too_large', `an event has more than ${limit} bytes`)
}
