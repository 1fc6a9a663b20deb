import { countedName } from '@parley/policy'
import { AGENT_LIMITS, PassingMap, isJsonObject } from '@parley/protocol'
import type { AgentOfGateway } from './gateway-calls.ts'
import { AgentLog } from './agent-log.ts'
import { MACHINE_TIMERS, type Timers } from './timers.ts'

/** Calls that wait to be written down; where there are more, they are refused. */
const CALLS_WAITING_MAX = 1_000
/** Lines that wait, with those that nobody waits for; one more of these is left out. */
const LINES_WAITING_MAX = 4_000
/** What nobody waits for goes with the next line that somebody does, or after this. */
const NOTE_MS = 25
/** A call that takes longer has a line that says that it is under way. */
const LONG_CALL_MS = 250
/** What is kept of who called, in a line that is too long. */
const BY_CHARS = 256

export interface CallLogOptions extends AgentOfGateway {
  /** Where the log ends: nobody else writes it while this claim holds. */
  readonly offset: number
  /** The log cannot be written any more: nothing may be called that is not written down. */
  readonly failed: (why: string) => void
  readonly timers?: Timers
}

/** The log of an agent's calls. Calls are numbered by the compositor, and named by the engine where they are its own. */
export class CallLog {
  readonly #log: AgentLog
  /** Calls that went out and have no line that says so yet. */
  readonly #begun = new PassingMap<number | string, { readonly entry: object; readonly at: number }>()
  readonly #timers: Timers
  #noting: (() => void) | undefined
  #noteAt = 0

  constructor({ claim, call, signal, offset, failed, timers = MACHINE_TIMERS }: CallLogOptions) {
    this.#timers = timers
    this.#log = new AgentLog({
      offset,
      append: (at, lines) => call('host.append_calls', { ...claim, offset: at, lines }, signal),
      what: 'what is called',
      awaitedMax: CALLS_WAITING_MAX,
      linesMax: LINES_WAITING_MAX,
      failed: ({ message }) => failed(message),
    })
  }

  /** Settles when it is written; throws when it never will be. */
  write(entry: object): Promise<void> {
    return this.#log.write([lineOf(entry)])
  }

  /** That a call goes out now. Of one that ends soon, the line of its end says that it did. */
  noteUnlessEnded(id: number | string, entry: object): void {
    if (this.#log.failure !== undefined || this.#begun.size >= CALLS_WAITING_MAX) return
    this.#begun.set(id, { entry, at: this.#timers.now() })
    this.#soon(LONG_CALL_MS)
  }

  /** How a call ended. Written when there is time; nobody waits for it. */
  noteEnd(id: number | string, entry: object): void {
    this.#begun.take(id)
    this.#note(entry)
    this.#soon(NOTE_MS)
  }

  /** Settles when what was handed in is written, or will not be. */
  async idle(): Promise<void> {
    this.#hurry(Infinity)
    await this.#log.idle()
  }

  #soon(afterMs: number): void {
    const at = this.#timers.now() + afterMs
    if (this.#noting !== undefined && this.#noteAt <= at) return
    this.#noting?.()
    this.#noteAt = at
    this.#noting = this.#timers.after(afterMs, () => this.#hurry(this.#timers.now()))
  }

  #note(entry: object): void {
    this.#log.later(lineOf(entry))
  }

  /** Writes all that waits. Calls that went out long before `now` are said to be under way; those that follow wait for their time. */
  #hurry(now: number): void {
    this.#noting?.()
    this.#noting = undefined
    for (const [id, { entry, at }] of this.#begun.entries()) {
      if (now - at < LONG_CALL_MS) {
        this.#soon(LONG_CALL_MS - (now - at))
        break
      }
      this.#begun.take(id)
      this.#note(entry)
    }
    this.#log.hurry()
  }
}

/** What is too long for a line says so, and stays JSON. What was let through is still counted by it: an agent chooses how long its arguments are. */
function lineOf(entry: object): string {
  const line = JSON.stringify(entry)
  if (line.length <= AGENT_LIMITS.callEntryBytes / 4) return line
  return JSON.stringify({ ...countedIn(entry), cut: true, chars: line.length, begins: line.slice(0, 4_096) })
}

function countedIn(entry: unknown): object {
  if (!isJsonObject(entry) || entry['step'] !== 'decided') return {}
  const { at, id, step, by, kind, mount, name, decision } = entry
  return {
    at,
    id,
    step,
    by: typeof by === 'string' ? by.slice(0, BY_CHARS) : by,
    kind,
    mount,
    name: typeof name === 'string' ? countedName(name) : name,
    decision: isJsonObject(decision) ? { kind: decision['kind'] } : decision,
  }
}
