import { AGENT_LIMITS, messageOf } from '@parley/protocol'
import type { AgentOfGateway } from './gateway-calls.ts'

/** Lines that wait to be written; where there are more, whoever adds one waits. */
const WAITING_MAX = 1_000
const BATCH_MAX = 200

export interface CallLogOptions extends AgentOfGateway {
  /** Where the log ends: nobody else writes it while this claim holds. */
  readonly offset: number
  /** The log cannot be written any more: nothing may be called that is not written down. */
  readonly failed: (why: string) => void
}

/** The log of an agent's calls, written in order and in batches. */
export class CallLog {
  readonly #options: CallLogOptions
  #waiting: { readonly line: string; readonly written: () => void; readonly lost: (error: Error) => void }[] = []
  #offset: number
  #writing: Promise<void> | undefined
  #failure: Error | undefined

  constructor(options: CallLogOptions) {
    this.#options = options
    this.#offset = options.offset
  }

  /** Settles when it is written; throws when it never will be. */
  async write(entry: object): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#waiting.length >= WAITING_MAX) throw new Error('too many calls wait to be written down')
    const line = cutLine(JSON.stringify(entry))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ line, written: resolve, lost: reject })
    this.#writing ??= this.#flush().finally(() => {
      this.#writing = undefined
    })
    return promise
  }

  /** Writes it when there is time; nobody waits for it. */
  note(entry: object): void {
    this.write(entry).catch(() => undefined)
  }

  /** Settles when what was handed in is written, or will not be. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #flush(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, BATCH_MAX)
        await this.#append(batch.map(({ line }) => line))
        this.#waiting.splice(0, batch.length)
        for (const { written } of batch) written()
      }
    } catch (error) {
      this.#failure = new Error(`what is called cannot be written down: ${messageOf(error)}`)
      for (const { lost } of this.#waiting.splice(0)) lost(this.#failure)
      this.#options.failed(this.#failure.message)
    }
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
