import { type CaseItem, JOB_LIMITS } from '@parley/protocol'
import { statusItem } from '../status/status-item.ts'
import type { JobVoice, StatusLine, TestListener } from '../tester.ts'
import type { HeldJob, LogName } from './held-job.ts'
import type { Log } from './log.ts'
import { Uploader } from './uploader.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** As much of the claim's id as tells two claims of one job apart. */
const CLAIM_CHARS = 8

/** Of each log so much is left to the judge's own words: whatever an engine writes, how the job ended is told. */
const OWN_BYTES = 1024 * 1024

/** The three logs of a job on their way to the gateway, and who writes into them while it is worked on. */
export class JobLogs implements TestListener, JobVoice {
  readonly #job: HeldJob
  readonly #limits: WorkerLimits
  readonly #now: () => number
  readonly #log: Log
  readonly #terminal: Uploader
  readonly #status: Uploader
  readonly #cases: Uploader
  #attempt = 1
  #lines = 0
  #casesDone = 0

  constructor(job: HeldJob, parts: { readonly limits: WorkerLimits; readonly now: () => number; readonly log: Log }) {
    this.#job = job
    this.#limits = parts.limits
    this.#now = parts.now
    this.#log = parts.log
    this.#terminal = this.#open('terminal', JOB_LIMITS.terminalLogBytes)
    this.#status = this.#open('agent_status', JOB_LIMITS.agentStatusLogBytes)
    this.#cases = this.#open('cases', JOB_LIMITS.casesLogBytes)
  }

  set attempt(attempt: number) {
    this.#attempt = attempt
  }

  /** The voice of an engine, which may write as much as it likes. */
  readonly engine: JobVoice = {
    terminal: (text) => this.#terminal.write(Buffer.from(text), OWN_BYTES),
    status: (line) => this.#say(line, OWN_BYTES),
  }

  terminal(text: string): void {
    this.#terminal.write(Buffer.from(text))
  }

  status(line: StatusLine): string {
    return this.#say(line, 0)
  }

  /** A follower of the job sees the cases of a claim that was lost, and then all of them again: it must be able to tell. */
  caseDone(item: CaseItem): void {
    this.#casesDone += 1
    this.#line(this.#cases, 'cases', { ...item, seq: `${this.#claimWord}-${this.#casesDone}` }, 0)
  }

  /** A claim that was given back leaves its number to the next one; its id is never used again. */
  get #claimWord(): string {
    return this.#job.claim.claimId.slice(0, CLAIM_CHARS)
  }

  /** Settles when the gateway has all of it. A log that it refuses for good is said and left; a lost claim is thrown. */
  async flush(): Promise<void> {
    const names: LogName[] = ['terminal', 'agent_status', 'cases']
    const results = await Promise.allSettled([this.#terminal.flush(), this.#status.flush(), this.#cases.flush()])
    results.forEach((result, index) => {
      if (result.status === 'fulfilled') return
      if (this.#job.reason === 'lost') throw result.reason
      this.#log('error', `${this.#job.claim.jobId}: the log ${names[index]} is not complete: ${String(result.reason)}`)
    })
  }

  #say(line: StatusLine, spareBytes: number): string {
    this.#lines += 1
    const seq = `${this.#claimWord}-${this.#lines}`
    const about = { at: this.#now(), jobId: this.#job.claim.jobId, attempt: this.#attempt, seq }
    this.#line(this.#status, 'agent_status', statusItem(line, about), spareBytes)
    return seq
  }

  #line(uploader: Uploader, name: LogName, item: object, spareBytes: number): void {
    const line = Buffer.from(`${JSON.stringify(item)}\n`)
    if (line.length <= this.#limits.lineBytes) uploader.write(line, spareBytes)
    else this.#log('warn', `${this.#job.claim.jobId}: a line of ${line.length} bytes is left out of ${name}`)
  }

  #open(name: LogName, limitBytes: number): Uploader {
    return new Uploader({
      offset: this.#job.claim.offsets[name],
      limitBytes,
      appendBytes: this.#limits.appendBytes,
      mismatches: this.#limits.mismatches,
      append: (offset, bytes, onRetry) => this.#job.append(name, offset, bytes, onRetry),
      warn: (message) => this.#log('warn', `${this.#job.claim.jobId}: ${name}: ${message}`),
    })
  }
}
