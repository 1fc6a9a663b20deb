import { AGENT_LIMITS, messageOf } from '@parley/protocol'
import type { AgentOfGateway } from './gateway-calls.ts'

/** Calls that wait to be written down; where there are more, they are refused. */
const CALLS_WAITING_MAX = 1_000
/** Lines that wait, with those that nobody waits for; one more of these is left out. */
const LINES_WAITING_MAX = 4_000
const BATCH_MAX = 200
/** What nobody waits for goes with the next line that somebody does, or after this. */
const NOTE_MS = 25
/** A call that takes longer has a line that says that it is under way. */
const LONG_CALL_MS = 250

export interface CallLogOptions extends AgentOfGateway {
  /** Where the log ends: nobody else writes it while this claim holds. */
  readonly offset: number
  /** The log cannot be written any more: nothing may be called that is not written down. */
  readonly failed: (why: string) => void
}

interface Waiting {
  readonly line: string
  /** Left out: nobody waits for it. */
  readonly written?: () => void
  readonly lost?: (error: Error) => void
}

/** The log of an agent's calls, written in order and in batches. */
export class CallLog {
  readonly #options: CallLogOptions
  #waiting: Waiting[] = []
  /** Calls that went out and have no line that says so yet, by number. */
  readonly #begun = new Map<number, { readonly entry: object; readonly at: number }>()
  #noting: NodeJS.Timeout | undefined
  #noteAt = 0
  #offset: number
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  /** How many of those that wait somebody waits for. */
  #calls = 0
  /** Everything is to be written now. */
  #isHurried = false
  #failure: Error | undefined

  constructor(options: CallLogOptions) {
    this.#options = options
    this.#offset = options.offset
  }

  /** Settles when it is written; throws when it never will be. */
  write(entry: object): Promise<void> {
    return new Promise((written, lost) => {
      if (this.#failure !== undefined) return lost(this.#failure)
      if (this.#calls >= CALLS_WAITING_MAX) return lost(new Error('too many calls wait to be written down'))
      this.#calls += 1
      this.#waiting.push({ line: cutLine(JSON.stringify(entry)), written, lost })
      this.#begin()
    })
  }

  /** That a call goes out now. Of one that ends soon, the line of its end says that it did. */
  noteUnlessEnded(id: number, entry: object): void {
    if (this.#failure !== undefined || this.#begun.size >= CALLS_WAITING_MAX) return
    this.#begun.set(id, { entry, at: performance.now() })
    this.#soon(LONG_CALL_MS)
  }

  /** How a call ended. Written when there is time; nobody waits for it. */
  noteEnd(id: number, entry: object): void {
    this.#begun.delete(id)
    this.#note(entry)
    this.#soon(NOTE_MS)
  }

  /** Settles when what was handed in is written, or will not be. */
  async idle(): Promise<void> {
    this.#hurry(Infinity)
    while (this.#isWriting) await this.#writing
  }

  #soon(afterMs: number): void {
    const at = performance.now() + afterMs
    if (this.#noting !== undefined && this.#noteAt <= at) return
    clearTimeout(this.#noting)
    this.#noteAt = at
    this.#noting = setTimeout(() => this.#hurry(performance.now()), afterMs)
  }

  #note(entry: object): void {
    if (this.#failure !== undefined || this.#waiting.length >= LINES_WAITING_MAX) return
    this.#waiting.push({ line: cutLine(JSON.stringify(entry)) })
  }

  /** Writes all that waits. Calls that went out long before `now` are said to be under way; those that follow wait for their time. */
  #hurry(now: number): void {
    clearTimeout(this.#noting)
    this.#noting = undefined
    for (const [id, { entry, at }] of this.#begun) {
      if (now - at < LONG_CALL_MS) {
        this.#soon(LONG_CALL_MS - (now - at))
        break
      }
      this.#begun.delete(id)
      this.#note(entry)
    }
    if (this.#waiting.length === 0) return
    this.#isHurried = true
    this.#begin()
  }

  #begin(): void {
    if (this.#isWriting) return
    this.#isWriting = true
    this.#writing = this.#flush()
  }

  /** Those that come in one turn of the event loop go together. */
  async #flush(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    try {
      while (this.#calls > 0 || (this.#isHurried && this.#waiting.length > 0)) {
        const batch = this.#waiting.slice(0, BATCH_MAX)
        await this.#append(batch.map(({ line }) => line))
        this.#waiting.splice(0, batch.length)
        for (const { written } of batch) {
          if (written === undefined) continue
          this.#calls -= 1
          written()
        }
      }
      this.#isHurried = false
    } catch (error) {
      this.#failure = new Error(`what is called cannot be written down: ${messageOf(error)}`)
      this.#calls = 0
      for (const { lost } of this.#waiting.splice(0)) lost?.(this.#failure)
      this.#options.failed(this.#failure.message)
    }
    // In the turn in which nothing waited any more: what is handed in later finds nobody at work.
    this.#isWriting = false
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { claim, call, signal } = this.#options
    const answer = await call('host.append_calls', { ...claim, offset: this.#offset, lines: [...lines] }, signal)
    if (!answer.ok) throw new Error(`its log ends at ${answer.current_offset} and not at ${this.#offset}`)
    this.#offset = answer.next_offset
  }
}

/** What is too long for a line says so, and stays JSON. */
function cutLine(line: string): string {
  if (line.length <= AGENT_LIMITS.callEntryBytes / 4) return line
  return JSON.stringify({ cut: true, chars: line.length, begins: line.slice(0, 4_096) })
}
