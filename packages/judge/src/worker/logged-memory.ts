import type { Transcript, TranscriptEntry, Transcripts } from '@parley/agent'
import { JOB_LOGS, type JobError, type Report, type Solution } from '@parley/protocol'
import { fitReport } from './fit-report.ts'
import type { JobMemory } from './generator.ts'
import type { HeldJob } from './held-job.ts'
import { type MemoryLine, type MemoryRead, readMemory } from './memory-lines.ts'
import { Uploader } from './uploader.ts'
import { WaitingPieces } from './waiting-bytes.ts'
import type { WorkerLimits } from './worker-limits.ts'

/** What an attempt came to before it was tested. */
export interface Answer {
  readonly code: string
  readonly solution: Solution | null
  readonly notes: readonly string[]
}

/** Kept free for the line that says that there is no room. */
const RESERVE_BYTES = 64 * 1024
/** A report that another judge may have to hand over. */
const REPORT_BYTES = 2 * 1024 * 1024

/** The job's transcript log as a memory: lines of ours between those of the engine. */
export class LoggedMemory implements JobMemory {
  readonly transcripts: Transcripts
  /** Why what earlier claims left is not used, or only in part. */
  readonly warning: string | undefined
  /** Whether earlier claims left anything that is gone on with. */
  readonly isResumed: boolean
  readonly #uploader: Uploader
  readonly #read: MemoryRead
  #bytes: number
  #isFull: boolean

  private constructor(read: MemoryRead, uploader: Uploader, bytes: number) {
    this.#read = read
    this.#uploader = uploader
    this.#bytes = bytes
    this.#isFull = read.isFull
    this.warning = read.warning
    this.isResumed = read.conversation !== undefined || read.answers.size > 0 || read.failures.size > 0
    this.transcripts = { create: (id) => this.#create(id), open: (id) => this.#open(id) }
  }

  /** Reads what earlier claims left, and marks where ours begins. */
  static async open(
    job: Pick<HeldJob, 'claim' | 'append' | 'readTranscript'>,
    limits: WorkerLimits,
    warn: (message: string) => void,
  ): Promise<LoggedMemory> {
    const left = await readAll(job)
    const uploader = new Uploader({
      offset: left.length,
      limitBytes: JOB_LOGS.transcript.maxBytes,
      appendBytes: limits.appendBytes,
      mismatches: limits.mismatches,
      waiting: new WaitingPieces(),
      append: (offset, bytes, onRetry) => job.append('transcript', offset, bytes, onRetry),
      warn,
    })
    const memory = new LoggedMemory(readMemory(left), uploader, left.length)
    const { claim, claimId } = job.claim
    // A line that a dying judge left half written ends here; the mark tells the next reader that this is what it is.
    const isTorn = left.length > 0 && left.at(-1) !== NEWLINE
    await memory.#append([{ type: 'claim', claim, claim_id: claimId }], isTorn ? '\n' : '')
    if (memory.#read.isUnreadable) await memory.#keep({ type: 'anew' })
    return memory
  }

  get conversation(): string | undefined {
    return this.#read.conversation
  }
  get selfTests(): number {
    return this.#read.selfTests.size
  }
  /** Attempts that have an answer, with what the test of it came to where there was one. */
  answer(attempt: number): Answer | undefined {
    return this.#read.answers.get(attempt)
  }
  report(attempt: number): Report | undefined {
    return this.#read.reports.get(attempt)
  }
  /** Why an attempt gave no answer, when another followed it. */
  failure(attempt: number): JobError | undefined {
    return this.#read.failures.get(attempt)
  }
  message(attempt: number, turn: number): string | undefined {
    return this.#read.turns.get(`${attempt}.${turn}`)
  }
  hasPassed(codeHash: string): boolean {
    return this.#read.selfTests.get(codeHash) === true
  }
  entries(): readonly TranscriptEntry[] {
    return this.#read.entries.get(this.#read.conversation ?? '') ?? []
  }

  turnEnded(attempt: number, turn: number, message: string): Promise<void> {
    return this.#keep({ type: 'turn', attempt, turn, message })
  }
  selfTested(codeHash: string, ok: boolean): Promise<void> {
    return this.#keep({ type: 'self_test', code_sha256: codeHash, ok })
  }
  answered(attempt: number, { code, solution, notes }: Answer): Promise<void> {
    return this.#keep({ type: 'answer', attempt, code, solution, notes: [...notes] })
  }
  failed(attempt: number, error: JobError): Promise<void> {
    return this.#keep({ type: 'failed', attempt, error })
  }
  reported(attempt: number, report: Report): Promise<void> {
    return this.#keep({ type: 'report', attempt, report: fitReport(report, REPORT_BYTES) })
  }

  async #create(id: string): Promise<Transcript> {
    await this.#keep({ type: 'conversation', id })
    return this.#transcript(id)
  }

  #open(id: string): Promise<Transcript | undefined> {
    return Promise.resolve(this.#read.entries.has(id) ? this.#transcript(id) : undefined)
  }

  #transcript(id: string): Transcript {
    return {
      read: () => Promise.resolve([...(this.#read.entries.get(id) ?? [])]),
      append: (entries) => this.#append(entries.map((entry): MemoryLine => ({ type: 'entry', conversation: id, entry }))),
      close: () => Promise.resolve(),
    }
  }

  #keep(line: MemoryLine): Promise<void> {
    return this.#append([line])
  }

  async #append(lines: readonly MemoryLine[], before = ''): Promise<void> {
    for (const line of lines) this.#read.take(line)
    if (lines.length === 0 || this.#isFull) return
    let bytes = Buffer.from(before + lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    if (this.#bytes + bytes.length > JOB_LOGS.transcript.maxBytes - RESERVE_BYTES) {
      this.#isFull = true
      bytes = Buffer.from(`${before}${JSON.stringify({ type: 'full' })}\n`)
    }
    this.#bytes += bytes.length
    this.#uploader.write(bytes)
    await this.#uploader.flush()
  }
}

const NEWLINE = 10

async function readAll(job: Pick<HeldJob, 'readTranscript'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for (let offset = 0; offset <= JOB_LOGS.transcript.maxBytes;) {
    const { chunk_b64, eof } = await job.readTranscript(offset)
    const chunk = Buffer.from(chunk_b64, 'base64')
    chunks.push(chunk)
    offset += chunk.length
    if (eof || chunk.length === 0) break
  }
  return Buffer.concat(chunks)
}
