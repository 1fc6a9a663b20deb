import {
  AgentStatusItem,
  CaseItem,
  type JobId,
  type JobLogName,
  type JobState,
  type JsonObject,
  NOTIFICATIONS,
  caseRound,
  isEnd,
  parseJson,
} from '@parley/protocol'
import { readBase64 } from '../base64.ts'
import { ByteLog } from './byte-log.ts'
import type { Begins, JobListener } from './job-listener.ts'
import { LineLog } from './line-log.ts'

/** When the end of a job is told: as soon as it is known, or after everything that came before it. */
export type EndTold = 'at-once' | 'last'

/** Tells a listener what was not told yet, whichever way it came: pushed by the gateway, or read from its logs. */
export class JobTeller {
  readonly #jobId: JobId
  readonly #listener: JobListener
  readonly #endTold: EndTold
  readonly #cases = new LineLog()
  readonly #statuses = new LineLog()
  readonly #terminal = new ByteLog()
  #state: JobState | undefined
  /** The last state that was told, as text; forgotten with each connection, so that whoever missed something looks again. */
  #told = ''
  #lastCase: CaseItem | undefined

  constructor(jobId: JobId, listener: JobListener, endTold: EndTold) {
    this.#jobId = jobId
    this.#listener = listener
    this.#endTold = endTold
  }

  get state(): JobState | undefined {
    return this.#state
  }
  get hasEnded(): boolean {
    return this.#state !== undefined && isEnd(this.#state.status)
  }
  /** Where a subscription goes on. */
  get offsets(): { readonly agent_status_offset: number; readonly cases_offset: number; readonly terminal_offset: number } {
    return {
      agent_status_offset: this.#statuses.told,
      cases_offset: this.#cases.told,
      terminal_offset: this.#terminal.told,
    }
  }
  /** Where reading a log goes on. */
  readFrom(log: JobLogName): number {
    return this.#log(log).read
  }

  /** Takes bytes that were read from where `readFrom` said. */
  read(log: JobLogName, bytes: Uint8Array): void {
    if (log === 'cases') this.#cases.push(bytes, (line) => this.#case(CaseItem.safeParse(parseJson(line)).data))
    else if (log === 'agent_status')
      this.#statuses.push(bytes, (line) => this.#status(AgentStatusItem.safeParse(parseJson(line)).data))
    else this.#bytes(bytes, this.#terminal.read + bytes.length)
  }

  /** Takes what the gateway said unasked; what is about something else is left alone. */
  heard(method: string, params: JsonObject): void {
    if (params['job_id'] !== this.#jobId) return
    switch (method) {
      case 'job_state': {
        const told = NOTIFICATIONS.job_state.params.safeParse(params)
        if (told.success) this.take(told.data.state)
        return
      }
      case 'agent_status': {
        const told = NOTIFICATIONS.agent_status.params.safeParse(params)
        if (told.success && this.#statuses.take(told.data.offset)) this.#status(told.data.item)
        return
      }
      case 'case_result': {
        const told = NOTIFICATIONS.case_result.params.safeParse(params)
        if (told.success && this.#cases.take(told.data.offset)) this.#case(told.data.item)
        return
      }
      case 'terminal': {
        const told = NOTIFICATIONS.terminal.params.safeParse(params)
        // Nobody waits for a notification who could be told that it makes no sense.
        const bytes = told.success ? readBase64(told.data.chunk_b64) : undefined
        if (told.success && bytes !== undefined) this.#bytes(bytes, told.data.offset)
      }
    }
  }

  /** Answers may overtake each other; an end is never taken back. */
  take(state: JobState): void {
    if (this.hasEnded && !isEnd(state.status)) return
    const isFirst = this.#state === undefined
    this.#state = state
    // The first state is told at once, whatever it is.
    if (this.#endTold === 'last' && isEnd(state.status) && !isFirst) return
    const text = JSON.stringify(state)
    if (text === this.#told) return
    this.#told = text
    this.#listener.state(state)
  }

  /** Tells the end that was kept back. */
  tellEnd(): void {
    if (this.#endTold === 'last' && this.#state !== undefined) this.#listener.state(this.#state)
  }

  /** There is another connection: the state is told again. */
  reconnected(): void {
    this.#told = ''
  }

  terminalFrom(offset: number): void {
    this.#terminal.from(offset)
    this.#listener.terminalFrom?.(offset)
  }

  /** Everything from the beginning. */
  restart(): void {
    for (const log of [this.#cases, this.#statuses, this.#terminal]) log.from(0)
    this.#state = undefined
    this.#told = ''
    this.#lastCase = undefined
    this.#listener.restarted()
  }

  #log(log: JobLogName): LineLog | ByteLog {
    return log === 'cases' ? this.#cases : log === 'agent_status' ? this.#statuses : this.#terminal
  }

  /** A line that is no item is left out. */
  #status(item: AgentStatusItem | undefined): void {
    if (item !== undefined) this.#listener.status(item)
  }

  #case(item: CaseItem | undefined): void {
    if (item === undefined) return
    const before = this.#lastCase
    this.#lastCase = item
    this.#listener.caseDone(item, beginsOf(before, item))
  }

  #bytes(bytes: Uint8Array, end: number): void {
    const fresh = this.#terminal.take(bytes, end)
    if (fresh.length > 0) this.#listener.terminal?.(fresh)
  }
}

function beginsOf(before: CaseItem | undefined, item: CaseItem): Begins {
  if (before === undefined || before.attempt !== item.attempt) return 'attempt'
  return caseRound(before) === caseRound(item) ? 'nothing' : 'claim'
}
