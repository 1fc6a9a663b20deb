import { type Heard, messageOf } from '@parley/protocol'

/** What a gateway says of lines that were appended. */
type Appended =
  | { readonly ok: true; readonly next_offset: number }
  | { readonly ok: false; readonly code: 'offset_mismatch'; readonly current_offset: number }

export interface AgentLogOptions {
  /** Where the log ends: nobody else writes it while this claim holds. */
  readonly offset: number
  /** `heard`: what the agent was told by these lines. */
  readonly append: (offset: number, lines: string[], heard: Heard | undefined) => Promise<Appended>
  /** What cannot be written when it cannot, in words. */
  readonly what: string
  /** Writes that somebody waits for; one more is refused. */
  readonly awaitedMax: number
  /** Lines that wait in all; of those that nobody waits for, one more is left out. */
  readonly linesMax: number
  /** It cannot be written any more. */
  readonly failed: (error: LogLost) => void
}

/** What waits to be written, in all; a write that comes to more is refused. */
const WAITING_CHARS = 32 * 1024 * 1024
/** What is written at once; one line may be longer. */
const BATCH_LINES = 200
const BATCH_CHARS = 512 * 1024

/** A log that cannot be written any more: what was handed in since is not in it. */
export class LogLost extends Error {
  readonly code = 'log_lost'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LogLost'
  }
}

/** One line; `heard`: up to where it tells the agent what is new. */
export interface HeardLine {
  readonly line: string
  readonly heard: Heard | undefined
}

interface Waiting extends HeardLine {
  /** Of the last line of those that somebody waits for. */
  readonly settle?: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>
}

/** One of an agent's logs at the gateway, written in order and in batches. */
export class AgentLog {
  readonly #options: AgentLogOptions
  readonly #waiting: Waiting[] = []
  #waitingChars = 0
  /** How many writes somebody waits for. */
  #awaited = 0
  /** Everything is to be written now. */
  #isHurried = false
  #offset: number
  #writing: Promise<void> = Promise.resolve()
  #isWriting = false
  #failure: LogLost | undefined

  constructor(options: AgentLogOptions) {
    this.#options = options
    this.#offset = options.offset
  }

  get failure(): LogLost | undefined {
    return this.#failure
  }

  /** Settles when they are written; throws when they never will be. */
  write(entries: readonly (string | HeardLine)[]): Promise<void> {
    const lines = entries.map((entry) => (typeof entry === 'string' ? { line: entry, heard: undefined } : entry))
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure)
      const { what, awaitedMax } = this.#options
      const chars = lines.reduce((sum, { line }) => sum + line.length, 0)
      if (this.#awaited >= awaitedMax || this.#waitingChars + chars > WAITING_CHARS)
        return reject(new Error(`too much waits already: ${what} cannot be written down`))
      if (lines.length === 0) return resolve(this.idle())
      this.#awaited += 1
      for (const [index, line] of lines.entries())
        this.#push(index === lines.length - 1 ? { ...line, settle: { resolve, reject } } : line)
      this.#begin()
    })
  }

  /** Goes with the next that is written, or when somebody hurries; nobody waits for it. */
  later(line: string): void {
    if (this.#failure !== undefined || this.#waiting.length >= this.#options.linesMax) return
    this.#push({ line, heard: undefined })
  }

  /** Writes all that waits. */
  hurry(): void {
    if (this.#waiting.length === 0) return
    this.#isHurried = true
    this.#begin()
  }

  /** Settles when what was handed in is written, or will not be. */
  async idle(): Promise<void> {
    this.hurry()
    while (this.#isWriting) await this.#writing
  }

  #push(waiting: Waiting): void {
    this.#waiting.push(waiting)
    this.#waitingChars += waiting.line.length
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
      while (this.#awaited > 0 || (this.#isHurried && this.#waiting.length > 0)) {
        const batch = this.#next()
        await this.#append(batch)
        this.#waiting.splice(0, batch.length)
        for (const { line, settle } of batch) {
          this.#waitingChars -= line.length
          if (settle === undefined) continue
          this.#awaited -= 1
          settle.resolve()
        }
      }
      this.#isHurried = false
    } catch (cause) {
      const failure = new LogLost(`${this.#options.what} cannot be written down: ${messageOf(cause)}`, { cause })
      this.#failure = failure
      this.#awaited = 0
      for (const { settle } of this.#waiting.splice(0)) settle?.reject(failure)
      this.#options.failed(failure)
    }
    // In the turn in which nothing waited any more: what is handed in later finds nobody at work.
    this.#isWriting = false
  }

  #next(): readonly Waiting[] {
    let chars = 0
    const end = this.#waiting.findIndex(({ line }, index) => {
      chars += line.length
      return index > 0 && (index >= BATCH_LINES || chars > BATCH_CHARS)
    })
    return this.#waiting.slice(0, end < 0 ? undefined : end)
  }

  async #append(batch: readonly Waiting[]): Promise<void> {
    const heard = batch.flatMap((waiting) => waiting.heard ?? []).reduce<Heard | undefined>(further, undefined)
    const lines = batch.map(({ line }) => line)
    const answer = await this.#options.append(this.#offset, lines, heard)
    if (!answer.ok) throw new Error(`its log ends at ${answer.current_offset} and not at ${this.#offset}`)
    this.#offset = answer.next_offset
  }
}

const further = (one: Heard | undefined, other: Heard): Heard => ({
  news: Math.max(one?.news ?? 0, other.news),
  chat: Math.max(one?.chat ?? 0, other.chat),
})
