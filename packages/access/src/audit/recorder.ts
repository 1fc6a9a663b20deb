import type { AuditEntries, AuditRecord } from '@parley/store'
import type { Logger } from 'pino'
import { Fold } from './fold.ts'

export type AuditLine = Omit<AuditRecord, 'seq'>

/** A batch is written when it is this old or this long, whichever comes first. */
const FLUSH_MS = 50
const FLUSH_LINES = 500
/** Lines that may wait for a database that does not answer; later ones are counted and reported, not kept. */
const WAITING_MAX = 20_000
const RETRY_MS = 1_000
/** How often is told what was counted instead of written. */
const FOLDED_MS = 60_000

/** The audit log could not be written, so nothing may be changed. */
export class AuditUnavailable extends Error {
  readonly code = 'unavailable'
  constructor(cause: unknown) {
    super('the audit log cannot be written', { cause })
    this.name = 'AuditUnavailable'
  }
}

/** Writes who did what. One writer at a time, so that lines keep the order in which they were handed in. */
export interface Recorder {
  /** Written soon: for what only reads. Costs an array push. Beyond the share of its actor it is counted, and told as one line. */
  note(line: AuditLine): void
  /** Answers when the line is durable, with all that came before it. Throws `AuditUnavailable`. */
  record(line: AuditLine): Promise<void>
  /** Writes what waits now, if it can, so that a reader finds it. */
  flush(): Promise<void>
  /** Lines waiting, lines lost for want of room, and failed writes so far. */
  counts(): { readonly waiting: number; readonly dropped: number; readonly failures: number }
  close(): Promise<void>
}

interface Waiter {
  /** How many lines must have been written since the start for this one to be durable. */
  readonly upTo: number
  readonly resolve: () => void
  readonly reject: (error: AuditUnavailable) => void
}

export function openRecorder(options: {
  readonly audit: AuditEntries
  readonly log: Logger
  readonly now: () => number
}): Recorder {
  const { audit, log, now } = options
  let waiting: AuditLine[] = []
  let waiters: Waiter[] = []
  let written = 0
  let dropped = 0
  let droppedReported = 0
  let failures = 0
  let failing = false
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined

  const fold = new Fold()
  const tellFolded = (): void => {
    for (const line of fold.told(now())) push(line)
    if (waiting.length > 0) later(FLUSH_MS)
  }
  const folding = setInterval(tellFolded, FOLDED_MS)
  folding.unref()

  const push = (line: AuditLine): void => {
    if (waiting.length < WAITING_MAX) waiting.push(line)
    else dropped += 1
  }

  const later = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      void write()
    }, ms)
  }

  /** Writes until nothing waits. A failure fails everyone who waits for durability and keeps the lines for the next try. */
  const write = (): Promise<void> => {
    writing ??= writeAll().finally(() => {
      writing = undefined
      if (waiting.length > 0) later(failing ? RETRY_MS : FLUSH_MS)
    })
    return writing
  }
  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      if (dropped > droppedReported && waiting.length < WAITING_MAX) {
        waiting.push(lost(dropped - droppedReported, now()))
        droppedReported = dropped
      }
      const batch = waiting.slice(0, FLUSH_LINES)
      try {
        await audit.append(batch)
      } catch (error) {
        failures += 1
        failing = true
        log.error({ err: error, waiting: waiting.length }, 'the audit log cannot be written')
        const unavailable = new AuditUnavailable(error)
        for (const { reject } of waiters.splice(0)) reject(unavailable)
        return
      }
      failing = false
      waiting = waiting.slice(batch.length)
      written += batch.length
      const done = waiters.filter(({ upTo }) => upTo <= written)
      waiters = waiters.filter(({ upTo }) => upTo > written)
      for (const { resolve } of done) resolve()
    }
  }

  return {
    note(line) {
      if (!fold.takes(line)) return
      push(line)
      if (waiting.length >= FLUSH_LINES) void write()
      else later(FLUSH_MS)
    },
    record(line) {
      if (waiting.length >= WAITING_MAX) return Promise.reject(new AuditUnavailable(undefined))
      push(line)
      const upTo = written + waiting.length
      const durable = new Promise<void>((resolve, reject) => waiters.push({ upTo, resolve, reject }))
      void write()
      return durable
    },
    flush: write,
    counts: () => ({ waiting: waiting.length, dropped, failures }),
    async close() {
      clearInterval(folding)
      tellFolded()
      clearTimeout(timer)
      timer = undefined
      await write()
      clearTimeout(timer)
      if (waiting.length > 0) log.error({ lines: waiting.length }, 'audit lines were lost at shutdown')
    },
  }
}

function lost(count: number, at: number): AuditLine {
  return {
    at,
    actor: 'gateway',
    role: 'none',
    action: 'audit.dropped',
    target: String(count),
    outcome: 'failed',
    code: 'overloaded',
    remote: null,
  }
}
