import { WAITING_BYTES_MAX, WAITING_EVENTS_MAX } from './bounds.ts'

/** Something that goes to the client when its turn has come. */
interface Waiting {
  readonly bytes: number
  /** Only events make room for others. */
  readonly isEvent: boolean
  deliver(): void
}

export interface OutboxOptions {
  readonly send: (line: string) => void
  /** Called once, when the first event had to make room. */
  readonly lost: () => void
}

/**
 * What one conversation has to tell, in order. It goes out while somebody listens and no answer has to go first, else it
 * waits. Several listeners are one client: it hears each event once, as Codex has it.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #listeners = new Set<string>()
  #waiting: Waiting[] = []
  #bytes = 0
  #holds = 0
  #hasLost = false

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  listen(subscription: string): void {
    this.#listeners.add(subscription)
    this.#flush()
  }

  unlisten(subscription: string): void {
    this.#listeners.delete(subscription)
  }

  /** Nothing goes out until the same number of `release`. */
  hold(): void {
    this.#holds += 1
  }

  release(): void {
    this.#holds -= 1
    this.#flush()
  }

  event(line: string): void {
    if (this.#isOpen && this.#waiting.length === 0) return this.#options.send(line)
    this.#add({ bytes: line.length, isEvent: true, deliver: () => this.#options.send(line) })
    this.#makeRoom()
  }

  /** Behind all events so far. The returned function takes it back if it has not gone out. */
  inOrder(deliver: () => void): () => void {
    const waiting: Waiting = { bytes: 0, isEvent: false, deliver }
    this.#add(waiting)
    this.#flush()
    return () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting)
    }
  }

  get #isOpen(): boolean {
    return this.#listeners.size > 0 && this.#holds === 0
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting)
    this.#bytes += waiting.bytes
  }

  #flush(): void {
    while (this.#isOpen) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      this.#bytes -= next.bytes
      next.deliver()
    }
  }

  #makeRoom(): void {
    while (this.#waiting.length > WAITING_EVENTS_MAX || this.#bytes > WAITING_BYTES_MAX) {
      const oldest = this.#waiting.findIndex(({ isEvent }) => isEvent)
      const [gone] = oldest < 0 ? [] : this.#waiting.splice(oldest, 1)
      if (gone === undefined) return
      this.#bytes -= gone.bytes
      if (!this.#hasLost) this.#options.lost()
      this.#hasLost = true
    }
  }
}
