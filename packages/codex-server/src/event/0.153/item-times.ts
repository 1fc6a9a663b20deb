import type { JsonObject } from '@parley/protocol'
import type { EventMessage } from '@parley/codex/port'

/** The items of a turn that have begun, and when. */
export class ItemTimes {
  readonly #threadId: string
  readonly #now: () => number
  readonly #started = new Map<string, number>()
  #turn = ''

  constructor(threadId: string, now: () => number) {
    this.#threadId = threadId
    this.#now = now
  }

  get turn(): string {
    return this.#turn
  }

  begin(turn: string): void {
    this.#turn = turn
    this.#started.clear()
  }

  has(id: string): boolean {
    return this.#started.has(id)
  }

  start(id: string, item: JsonObject, out: EventMessage[]): void {
    const started_at_ms = this.#now()
    this.#started.set(id, started_at_ms)
    out.push({ type: 'item_started', thread_id: this.#threadId, turn_id: this.#turn, item, started_at_ms })
  }

  complete(id: string, item: JsonObject, out: EventMessage[]): void {
    const completed_at_ms = this.#now()
    const started_at_ms = this.#started.get(id) ?? completed_at_ms
    this.#started.delete(id)
    const about = { thread_id: this.#threadId, turn_id: this.#turn, item }
    out.push({ type: 'item_completed', ...about, started_at_ms, completed_at_ms })
  }
}
