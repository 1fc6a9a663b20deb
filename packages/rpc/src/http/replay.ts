import type { BodyShare } from '../limit/body-room.ts'

interface Kept {
  readonly stream: number
  readonly seq: number
  readonly text: string
}

/** The number of the stream for messages that belong to no request. It lives as long as the session. */
export const STANDALONE = 0

/**
 * The last events of one session, so that a client that lost its connection can go on where it was. Bounded both ways, and with
 * the other sessions of its person: what there is no room for is gone, like what is too old.
 */
export class Replay {
  readonly #maxBytes: number
  readonly #maxEvents: number
  readonly #room: BodyShare
  readonly #events: Kept[] = []
  #bytes = 0
  /** Per stream, the last event that was let go. Entries go with their streams' last events. */
  readonly #lost = new Map<number, number>()

  constructor(limits: { readonly replayBytes: number; readonly replayEvents: number }, room: BodyShare) {
    this.#room = room
    this.#maxBytes = limits.replayBytes
    this.#maxEvents = limits.replayEvents
  }

  add(stream: number, seq: number, text: string): void {
    // Nothing else would be left beside it.
    if (text.length > this.#maxBytes) return this.#noteLoss(stream, seq)
    this.#events.push({ stream, seq, text })
    this.#bytes += text.length
    while (this.#events.length > this.#maxEvents || this.#bytes > this.#maxBytes) this.#lose()
    while (this.#room.hold(this.#bytes) !== undefined) this.#lose()
  }

  /** The session is over: nobody comes back. */
  release(): void {
    this.#events.length = 0
    this.#bytes = 0
    this.#room.release()
  }

  #lose(): void {
    const oldest = this.#events.shift()
    if (oldest === undefined) return
    this.#bytes -= oldest.text.length
    this.#noteLoss(oldest.stream, oldest.seq)
  }

  #noteLoss(stream: number, seq: number): void {
    this.#lost.set(stream, Math.max(seq, this.#lost.get(stream) ?? 0))
    if (this.#lost.size > this.#maxEvents) this.#forgetOldestLoss()
  }

  /** Events of one stream after `seq`, and whether some between are gone. */
  after(stream: number, seq: number): { readonly events: readonly Kept[]; readonly gap: boolean } {
    const events = this.#events.filter((event) => event.stream === stream && event.seq > seq)
    return { events, gap: (this.#lost.get(stream) ?? -1) > seq }
  }

  #forgetOldestLoss(): void {
    for (const stream of this.#lost.keys()) {
      if (stream === STANDALONE) continue
      this.#lost.delete(stream)
      return
    }
  }
}
