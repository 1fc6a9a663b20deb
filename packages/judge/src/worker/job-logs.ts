import { type AgentStatusItem, type CaseItem, JOB_LIMITS } from '@parley/protocol'
import type { StatusLine, TestListener } from '../tester.ts'
import type { HeldJob, LogName } from './held-job.ts'
import type { Log } from './log.ts'
import { Uploader } from './uploader.ts'
import type { WorkerLimits } from './worker-limits.ts'

const SUMMARY_CHARS = 2_000
/** As much of the claim's id as tells two claims of one job apart. */
const CLAIM_CHARS = 8

/** The three logs of a job on their way to the gateway, and who writes into them while it is tested. */
export class JobLogs implements TestListener {
  readonly #job: HeldJob
  readonly #limits: WorkerLimits
  readonly #now: () => number
  readonly #log: Log
  readonly #terminal: Uploader
  readonly #status: Uploader
  readonly #cases: Uploader
  #attempt = 1
  #lines = 0

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

  terminal(text: string): void {
    this.#terminal.write(Buffer.from(text))
  }

  status({ stage, level, summary, progress, meta }: StatusLine): void {
    this.#lines += 1
    const item: AgentStatusItem = {
      ts: new Date(this.#now()).toISOString(),
      job_id: this.#job.claim.jobId,
      attempt: this.#attempt,
      stage,
      level,
      progress: progress ?? null,
      summary: summary.slice(0, SUMMARY_CHARS),
      meta: { ...meta },
      // A claim that was given back leaves its number to the next one; its id is never used again.
      seq: `${this.#job.claim.claimId.slice(0, CLAIM_CHARS)}-${this.#lines}`,
    }
    this.#line(this.#status, 'agent_status', item)
  }

  caseDone(item: CaseItem): void {
    this.#line(this.#cases, 'cases', item)
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

  #line(uploader: Uploader, name: LogName, item: object): void {
    const line = Buffer.from(`${JSON.stringify(item)}\n`)
    if (line.length <= this.#limits.lineBytes) uploader.write(line)
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
