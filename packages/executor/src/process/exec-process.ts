export type OutputStream = 'stdout' | 'stderr' | 'pty'

/** A piece of output as it came, at its place in the one sequence of its process. */
export interface OutputChunk {
  readonly seq: number
  readonly stream: OutputStream
  readonly bytes: Buffer
}

/** What happens to a process, in one sequence without holes, from 1 on. */
export type SequencedEvent =
  | ({ readonly kind: 'output' } & OutputChunk)
  /** The process itself has ended. What it started may still write: more output may follow. */
  | { readonly kind: 'exited'; readonly seq: number; readonly exitCode: number }
  /** Both output streams have ended. Nothing follows. */
  | { readonly kind: 'closed'; readonly seq: number }

/** What a subscriber is handed. Those without a number are about the subscription and not about the process. */
export type ProcessEvent =
  | SequencedEvent
  /** So many events are not there any more, or never came; `read` may still have them. */
  | { readonly kind: 'lagged'; readonly skipped: number }
  /** The process cannot be followed any more. Nothing follows. */
  | { readonly kind: 'failed'; readonly message: string }
  /** There will be no more events, and nobody knows whether the process has closed. */
  | { readonly kind: 'ended' }

/** What became of a write. Only `accepted` bytes reach the process, in the order of the writes. */
export type WriteStatus = 'accepted' | 'unknownProcess' | 'stdinClosed' | 'starting'

export interface ReadRequest {
  /** Everything after this number; 0 is everything. */
  readonly afterSeq?: number
  /** About how much; at least one whole chunk comes if there is one. */
  readonly maxBytes?: number
  /** How long to wait if there is nothing yet. */
  readonly waitMs?: number
  /** Ends the wait: what there is by then is the answer, or the reason of the signal is thrown. */
  readonly signal?: AbortSignal
}

export interface ReadResult {
  readonly chunks: readonly OutputChunk[]
  /** Read on from `afterSeq: nextSeq - 1`. */
  readonly nextSeq: number
  readonly exited: boolean
  readonly exitCode: number | null
  /** It has closed, and nothing is left to read after this answer. */
  readonly closed: boolean
  readonly failure: string | null
  /** Output after `afterSeq` was given up: what is here begins later. */
  readonly truncated: boolean
  /** The first number that is still there; `nextSeq` where there is none. */
  readonly firstSeq: number
}

export interface SubscribeOptions {
  /** Everything after this number; 0, the default, is all that is retained. */
  readonly afterSeq?: number
  /**
   * When an event counts as taken, so that a process started with `onFull: 'hold'` may write more: when it was handed over, or when
   * `taken` says so.
   */
  readonly takes?: 'handed' | 'said'
  /** With `onFull: 'drop'`: what this subscriber was not handed yet is not given up while it is there; the process waits. Default false. */
  readonly isWaitedFor?: boolean
  /** Hands over nothing before the first `resume`, and keeps its place meanwhile. Default false. */
  readonly isPaused?: boolean
}

export interface Subscription {
  /** Hands over nothing until `resume`; what comes meanwhile is retained as far as there is room. */
  pause(): void
  resume(): void
  /** Everything up to this number has been dealt with. */
  taken(seq: number): void
  close(): void
}

/** A process, wherever it runs. */
export interface ExecProcess {
  readonly processId: string
  /** The highest number that has come so far. */
  readonly lastSeq: number
  /** Settles when nothing more will come: it has closed, or cannot be followed any more. Never rejects. */
  readonly ended: Promise<void>
  /** Writes to its stdin. The same `writeId` again is the same write: it is not written twice. */
  write(input: Buffer | string, writeId?: string): Promise<WriteStatus>
  /** No more will be written. Left out where the way to the process has no word for it. */
  endInput?(): void
  read(request: ReadRequest): Promise<ReadResult>
  /** To the whole group. One that has ended is not signalled. */
  signal(signal: ExecSignal): Promise<void>
  /**
   * Ends the whole group: SIGTERM, a time of grace, SIGKILL; `force` kills at once. Answers whether it was still there, without
   * waiting for the end.
   */
  terminate(options?: { readonly force?: boolean }): Promise<boolean>
  /** Hands over what is retained, then what comes. Each event once, in order. */
  subscribe(listener: (event: ProcessEvent) => void, options?: SubscribeOptions): Subscription
}

/** What the process API knows. */
export type ExecSignal = 'interrupt'

/** What to do when a process has written more than is kept of it. */
export type WhenFull =
  /** Gives up the oldest output; whoever had not read it is told. */
  | 'drop'
  /** Does not read from the process until somebody has taken what there is: it waits in its next write. */
  | 'hold'

/** How much of a process's output is kept, and what happens to what does not fit. */
export interface Retention {
  readonly retainBytes: number
  readonly onFull: WhenFull
}

/** As much as the real `codex exec-server` keeps. */
export const DEFAULT_RETENTION: Retention = { retainBytes: 1024 * 1024, onFull: 'drop' }
