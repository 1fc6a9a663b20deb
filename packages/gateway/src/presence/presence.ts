import type { Judges } from '@parley/store'

/** Machines remembered between two writes; past that a judge is seen again when it next asks for work. */
const MACHINES_MAX = 10_000
/** Machines in one statement. */
const BATCH = 500

/** Which judges are there, written down now and then instead of with every call. */
export class Presence {
  readonly #judges: Pick<Judges, 'alive'>
  readonly #now: () => number
  readonly #everyMs: number
  readonly #failed: (error: unknown) => void
  readonly #waiting = new Map<string, number>()
  readonly #called = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  /** One write after the other: the last one is waited for at the end. */
  #writing: Promise<void> = Promise.resolve()
  #closed = false

  constructor(options: {
    readonly judges: Pick<Judges, 'alive'>
    readonly now: () => number
    readonly everyMs: number
    readonly failed: (error: unknown) => void
  }) {
    this.#judges = options.judges
    this.#now = options.now
    this.#everyMs = options.everyMs
    this.#failed = options.failed
  }

  /** It made a call. */
  called(machineId: string): void {
    if (this.#called.size >= MACHINES_MAX) return
    this.#called.add(machineId)
    this.#start()
  }

  /** Whether it waits for work here. */
  isWaiting(machineId: string): boolean {
    return this.#waiting.has(machineId)
  }

  /** It waits for work; the answer ends that. */
  waits(machineId: string): () => void {
    this.#waiting.set(machineId, (this.#waiting.get(machineId) ?? 0) + 1)
    this.#start()
    return () => {
      const left = (this.#waiting.get(machineId) ?? 1) - 1
      if (left > 0) this.#waiting.set(machineId, left)
      else this.#waiting.delete(machineId)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.#writeNext()
  }

  #start(): void {
    if (!this.#closed) this.#timer ??= setInterval(() => void this.#writeNext(), this.#everyMs).unref()
  }

  #writeNext(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    const machines = [...new Set([...this.#waiting.keys(), ...this.#called])]
    this.#called.clear()
    if (machines.length === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    try {
      for (let first = 0; first < machines.length; first += BATCH)
        await this.#judges.alive(machines.slice(first, first + BATCH), this.#now())
    } catch (error) {
      this.#failed(error)
    }
  }
}
