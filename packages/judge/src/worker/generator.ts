import type { TranscriptEntry, Transcripts } from '@parley/agent'
import type { JobError, JobSpec, Report, Solution, ToolOutput, UsageTotal } from '@parley/protocol'
import type { JobVoice, Tester } from '../tester.ts'

/** The short-lived key, model and budget of one attempt. */
export type Prepared = ToolOutput<'judge.prepare_generate'>

/** What an engine is asked for: a solution, or a better one than that of the last attempt. */
export interface GenerateRequest {
  readonly spec: JobSpec
  readonly inputFolder: string
  readonly attempt: number
  readonly claim: number
  /** What became of the last attempt that gave a program; null when none did. */
  readonly previous: { readonly code: string; readonly report: Report } | null
  /** Why the attempt before gave none; null when it did, and for the first. */
  readonly rejected: JobError | null
  readonly ports: GeneratePorts
}

/** What a generator may use of the job that is held. */
export interface GeneratePorts {
  /** Private to this job under this claim, and gone with it. */
  readonly folder: string
  readonly judgeName: string
  readonly tester: Tester
  readonly memory: JobMemory
  prepare(attempt: number, signal: AbortSignal): Promise<Prepared>
  /** Books one call of a model; settles when the gateway has it. */
  ingest(attempt: number, call: BookedCall): Promise<UsageTotal>
}

/**
 * What survives this judge: the transcript of the engine, and what of our own another judge needs to go on. It is written
 * in order, and what was acknowledged is read by whoever claims the job next.
 */
export interface JobMemory {
  /** The conversation that earlier attempts or claims left. */
  readonly conversation: string | undefined
  readonly transcripts: Transcripts
  /** The log of the conversation so far. */
  entries(): readonly TranscriptEntry[]
  /** The last message of a turn that was seen to its end. */
  message(attempt: number, turn: number): string | undefined
  turnEnded(attempt: number, turn: number, message: string): Promise<void>
  /** How many sources were self-tested, and whether this one passed. */
  readonly selfTests: number
  hasPassed(codeHash: string): boolean
  selfTested(codeHash: string, ok: boolean): Promise<void>
}

export type Generated =
  | {
      readonly kind: 'code'
      readonly code: string
      readonly solution?: Solution
      /** Calls that are not booked yet. */
      readonly calls?: readonly BookedCall[]
      /** For the report of this attempt. */
      readonly notes?: readonly string[]
    }
  | { readonly kind: 'failed'; readonly error: JobError; readonly calls?: readonly BookedCall[] }

/** One call of a model, booked once by its id. */
export interface BookedCall {
  readonly id: string
  readonly usage: Readonly<Record<string, unknown>>
}

/** Writes solutions. A judge without one takes only code that is judged as it is. */
export interface Generator {
  /** Settles soon after the signal fired, whatever it was doing, and leaves nothing running. */
  generate(request: GenerateRequest, voice: JobVoice, signal: AbortSignal): Promise<Generated>
  /** The report of an answer without anything secret in it. */
  cleaned?(report: Report): Report
}
