import { refusal } from '../api/error-code.ts'
import type { ServerLimits } from './server-limits.ts'

/** What a request takes at least, whatever its length: what waits for its answer. */
const REQUEST_BYTES = 4 * 1024

/** Bytes of requests that are under way: those of all connections of a server, or those that have the room kept for a session. */
export interface BytesUnderWay {
  bytes: number
}

/**
 * The requests of one connection that are not answered yet, bounded in number, in bytes, and in bytes together with those of all
 * connections, for which the room that is kept for their session does not do. What is under way when the connection ends counts on
 * until it is done.
 */
export class UnderWay {
  readonly #limits: ServerLimits
  readonly #all: BytesUnderWay
  #requests = 0
  #bytes = 0

  constructor(limits: ServerLimits, all: BytesUnderWay) {
    this.#limits = limits
    this.#all = all
  }

  /** Lets a request in; call what it answers once the request is done. Throws a refusal where there is no room. */
  enter(method: string, chars: number, kept: BytesUnderWay | undefined): () => void {
    const { requestsPerLink, requestBytesPerLink, requestBytes, requestBytesKept } = this.#limits
    const bytes = bytesOf(method, chars)
    if (this.#requests >= requestsPerLink) throw tooMuch(`${requestsPerLink} requests`)
    if (bytes > 0 && this.#bytes + bytes > requestBytesPerLink)
      throw tooMuch(`requests of as many bytes as a connection may have, ${requestBytesPerLink},`)
    const room = kept !== undefined && kept.bytes + bytes <= requestBytesKept ? kept : this.#all
    if (bytes > 0 && room === this.#all && room.bytes + bytes > requestBytes)
      throw tooMuch(`requests of as many bytes as all connections may have, ${requestBytes},`)
    this.#requests += 1
    this.#bytes += bytes
    room.bytes += bytes
    return () => {
      this.#requests -= 1
      this.#bytes -= bytes
      room.bytes -= bytes
    }
  }
}

/**
 * A small request is always let in, or nobody could end the process whose unread input fills the room. Their number is bounded
 * enough, except for writes: they wait for as long as a process does not read, also when their connection has ended.
 */
function bytesOf(method: string, chars: number): number {
  return chars <= REQUEST_BYTES && method !== 'process/write' ? 0 : Math.max(chars, REQUEST_BYTES)
}

function tooMuch(what: string): Error {
  return refusal('invalidRequest', `${what} are under way; wait for their answers`)
}
