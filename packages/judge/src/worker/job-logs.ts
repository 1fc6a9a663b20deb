import { type CaseItem, JOB_LOGS, type JobLogName, messageOf } from '@parley/protocol'
import { statusItem } from '../status/status-item.ts'
import type { JobVoice, StatusLine, TestListener } from '../tester.ts'
import type { Claim, HeldJob } from './held-job.ts'
import { type ClaimLogs, openClaimLogs } from './late/claim-logs.ts'
import { LOG_NAMES, ofEachLog } from './late/log-names.ts'
import type { Log } from './log.ts'
import { Uploader } from './uploader.ts'
import type { WorkFolder } from './work-folder.ts'
import type { WorkerLimits } from './worker-limits.ts'

export interface JobLogsParts {
  readonly limits: WorkerLimits
  readonly now: () => number
  readonly log: Log
  readonly work: Pick<WorkFolder, 'late'>
}

/** As much of the claim's id as tells two claims of one job apart. */
const CLAIM_CHARS = 8

/** Of each log so much is left to the judge's own words: whatever an engine writes, how the job ended is told. */
const OWN_BYTES = 1024 * 1024

/** A claim that was given back leaves its number to the next one; its id is never used again. */
const wordOf = ({ claimId }: Claim): string => claimId.slice(0, CLAIM_CHARS)

/** The three logs of a job on their way to the gateway, and who writes into them while it is worked on. */
export class JobLogs implements TestListener, JobVoice {
  readonly #job: HeldJob
  readonly #limits: WorkerLimits
  readonly #now: () => number
  readonly #log: Log
  readonly #uploaders: Readonly<Record<JobLogName, Uploader>>
  readonly #kept: ClaimLogs
  #isBroken = false
  #attempt = 1
  #lines = 0
  #casesDone = 0

  private constructor(job: HeldJob, parts: JobLogsParts, kept: ClaimLogs) {
    this.#job = job
    this.#limits = parts.limits
    this.#now = parts.now
    this.#log = parts.log
    this.#kept = kept
    this.#lines = kept.hasFirstLine ? 1 : 0
    this.#uploaders = ofEachLog((name) => this.#open(name))
    kept.onBroken((error) => this.#tellBroken(error))
    kept.onUnreadable((name, bytes) =>
      this.status({ stage: 'analysis', level: 'warn', summary: `${bytes} bytes of ${name} cannot be read again and are lost` }),
    )
  }

  /** Opens the logs of a claim in its folder; what earlier claims left on this machine goes up first. */
  static async open(job: HeldJob, jobFolder: string, parts: JobLogsParts): Promise<JobLogs> {
    const { claim } = job
    const about = { jobId: claim.jobId, attempt: 1, seq: `${wordOf(claim)}-1` }
    const kept = await openClaimLogs({
      claim,
      jobFolder,
      late: parts.work.late,
      lineBytes: parts.limits.lineBytes,
      spareBytes: OWN_BYTES,
      firstLine: (line) => Buffer.from(`${JSON.stringify(statusItem(line, { ...about, at: parts.now() }))}\n`),
      now: parts.now,
      log: parts.log,
    })
    return new JobLogs(job, parts, kept)
  }

  set attempt(attempt: number) {
    this.#attempt = attempt
  }

  /** The voice of an engine, which may write as much as it likes. */
  readonly engine: JobVoice = {
    terminal: (text) => this.#uploaders.terminal.write(Buffer.from(text), OWN_BYTES),
    status: (line) => this.#say(line, OWN_BYTES),
  }

  terminal(text: string): void {
    this.#uploaders.terminal.write(Buffer.from(text))
  }

  status(line: StatusLine): string {
    return this.#say(line, 0)
  }

  /** A follower of the job sees the cases of a claim that was lost, and then all of them again: it must be able to tell. */
  caseDone(item: CaseItem): void {
    this.#casesDone += 1
    this.#line('cases', { ...item, seq: `${wordOf(this.#job.claim)}-${this.#casesDone}` }, 0)
  }

  /** Settles when the gateway has all of it. A log that it refuses for good is said and left; a lost claim is thrown. */
  async flush(): Promise<void> {
    const results = await this.#flushed()
    results.forEach((result, index) => {
      if (result.status === 'fulfilled') return
      if (this.#job.reason === 'lost') throw result.reason
      this.#log('error', `${this.#job.claim.jobId}: the log ${LOG_NAMES[index]} is not complete: ${String(result.reason)}`)
    })
  }

  /** Nothing more is sent; the files are closed as they are. */
  async close(): Promise<void> {
    await this.#flushed()
    this.#kept.close()
  }

  #flushed(): Promise<PromiseSettledResult<void>[]> {
    return Promise.allSettled(LOG_NAMES.map((name) => this.#uploaders[name].flush()))
  }

  #say(line: StatusLine, spareBytes: number): string {
    this.#lines += 1
    const seq = `${wordOf(this.#job.claim)}-${this.#lines}`
    const about = { at: this.#now(), jobId: this.#job.claim.jobId, attempt: this.#attempt, seq }
    this.#line('agent_status', statusItem(line, about), spareBytes)
    return seq
  }

  #line(name: JobLogName, item: object, spareBytes: number): void {
    const line = Buffer.from(`${JSON.stringify(item)}\n`)
    if (line.length <= this.#limits.lineBytes) this.#uploaders[name].write(line, spareBytes)
    else this.#log('warn', `${this.#job.claim.jobId}: a line of ${line.length} bytes is left out of ${name}`)
  }

  /** Said once for all three: they lie on the same disk. */
  #tellBroken(error: unknown): void {
    if (this.#isBroken) return
    this.#isBroken = true
    const summary = 'the disk of this judge takes no more of the logs: what is said now is lost if the judge dies'
    this.#log('warn', `${this.#job.claim.jobId}: ${summary}: ${messageOf(error)}`)
    this.status({ stage: 'analysis', level: 'warn', summary })
  }

  /** Whoever reads the job has to know that words of an earlier claim do not follow any more. */
  #tellRefused(name: JobLogName): void {
    const bytes = this.#kept.earlierLeft(name)
    if (bytes === 0 || name === 'agent_status') return
    const summary = `not sent of what a judge said here before: ${bytes} bytes of ${name}: the log is full`
    this.status({ stage: 'analysis', level: 'warn', summary })
  }

  #open(name: JobLogName): Uploader {
    return new Uploader({
      offset: this.#job.claim.offsets[name],
      limitBytes: JOB_LOGS[name].maxBytes,
      waiting: this.#kept.waiting[name],
      appendBytes: this.#limits.appendBytes,
      mismatches: this.#limits.mismatches,
      append: (offset, bytes, onRetry) => this.#job.append(name, offset, bytes, onRetry),
      warn: (message) => this.#log('warn', `${this.#job.claim.jobId}: ${name}: ${message}`),
      refused: () => this.#tellRefused(name),
    })
  }
}
