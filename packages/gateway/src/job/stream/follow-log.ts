import { type GatewayCaller } from '@parley/access'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '@parley/rpc'
import type { Logs } from '@parley/store'
import type { Logger } from 'pino'
import type { StreamGate } from './gate.ts'
import type { MessageMaker } from './message.ts'

/** What the store may hold for one reader before that reader goes on by reads. */
const FOLLOW_BUFFER_BYTES = 64 * 1024
/** How long a follower waits when the store failed, before it goes on where it was. */
const RETRY_MS = 1_000

interface FollowerStart {
  readonly logs: Logs
  readonly name: string
  readonly link: Link<GatewayCaller>
  readonly gate: StreamGate
  readonly maker: MessageMaker
  readonly log: Logger
}

/**
 * Sends one log to one link from an offset on, each byte once and in order. It takes the next entry from the store only
 * when the link took the one before, so a slow reader holds back nobody but itself.
 */
export class LogFollower {
  readonly #start: FollowerStart
  readonly #controller = new AbortController()
  readonly #waiting = new Set<{ readonly offset: number; readonly resolve: () => void }>()
  #position: number

  constructor(start: FollowerStart) {
    this.#start = start
    this.#position = start.maker.from
    void this.#run()
  }

  /** Answers when everything before `offset` is on its way to the reader, or the follower has stopped. */
  async reached(offset: number): Promise<void> {
    if (this.#position >= offset || this.#stopped) return
    await new Promise<void>((resolve) => this.#waiting.add({ offset, resolve }))
  }

  stop(): void {
    this.#controller.abort()
    this.#advance(Number.POSITIVE_INFINITY)
  }

  get #stopped(): boolean {
    return this.#controller.signal.aborted
  }

  async #run(): Promise<void> {
    const { signal } = this.#controller
    // The answer to whoever subscribed goes first: it is sent in the ticks after the tool's.
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (!signal.aborted) {
      try {
        await this.#follow(signal)
        // The log was closed or deleted, or the store is.
        return this.stop()
      } catch (error) {
        this.#start.log.warn({ err: error, log: this.#start.name }, 'a log cannot be followed now; trying again')
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined)
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { logs, name, link, gate, maker } = this.#start
    if (gate.closed) await gate.opened(signal)
    const from = { offset: this.#position }
    for await (const entry of logs.follow(name, from, { bufferBytes: FOLLOW_BUFFER_BYTES, signal })) {
      // It may have been on its way here already when we were stopped.
      if (signal.aborted) return
      for (const { params } of maker.messages(entry)) {
        while (!link.notify(maker.method, params)) {
          await gate.opened(signal)
          if (signal.aborted) return
        }
      }
      this.#advance(entry.offset)
    }
  }

  #advance(position: number): void {
    this.#position = position
    for (const waiter of this.#waiting) {
      if (waiter.offset > position) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }
}
