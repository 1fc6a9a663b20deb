import type { JsonObject } from '@parley/protocol'

/**
 * One line of a conversation's log. `type` says what; unknown types are kept and skipped. Whoever keeps the log may take secrets out of a line,
 * which then has `masked: true`.
 */
export interface TranscriptEntry extends JsonObject {
  readonly type: string
}

/** The log of one conversation. Whoever reads it from the start knows where the conversation stands. */
export interface Transcript {
  /** What earlier processes left; a last line that is not whole is dropped. */
  read(): Promise<readonly TranscriptEntry[]>
  /** Adds in order. Settles when it survives the end of this process. */
  append(entries: readonly TranscriptEntry[]): Promise<void>
  close(): Promise<void>
}

/** Where transcripts are kept, by conversation id. */
export interface Transcripts {
  create(id: string): Promise<Transcript>
  /** `undefined`: there is no such conversation. */
  open(id: string): Promise<Transcript | undefined>
}
