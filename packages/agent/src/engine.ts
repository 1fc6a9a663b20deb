import type { Budget, Heard, JsonObject, ReasoningEffort } from '@parley/protocol'
import type { ApprovalReply, ApprovalRequest } from './approval.ts'
import type { EngineEvent, TurnEnd } from './event.ts'
import type { MountSpec } from './mount.ts'

/** When a person is asked before something is done: `always` before every command and patch, `on-request` when the model asks for more than it may, `never` at all. */
export type ApprovalMode = 'always' | 'on-request' | 'never'

/** What commands and patches may touch: nothing, the working folder, or whatever the user may. */
export type Reach = 'read-only' | 'workspace-write' | 'full-access'

export interface ConversationOptions {
  readonly model: string
  /** What the model is told before everything else; it survives every compaction. */
  readonly instructions: string
  /** An absolute path. Commands run here, files are read and patched here. */
  readonly folder: string
  /** The folder was found to be there without links, so one that leads elsewhere by now is refused. */
  readonly unlinked?: boolean
  readonly approvals: ApprovalMode
  readonly reach: Reach
  /** Whether commands have a network. */
  readonly network: boolean
  readonly mounts: readonly MountSpec[]
  readonly effort?: ReasoningEffort
  /** The last message of every turn must be a document of this schema. A turn may set another. */
  readonly outputSchema?: JsonObject
  /** For the whole conversation. */
  readonly budget?: Budget
  /**
   * Whoever opens it keeps what people are asked and what they say beyond this process. A call that was never sent is then not given up with
   * the process: `takeUp` asks about it again. Left out: every call that has no result is left behind.
   */
  readonly keepsApprovals?: boolean
  /** Asked before each request of a turn to the model. An engine that does not make its requests itself does not ask. */
  readonly news?: NewsSource
  /** Asked when all calls of an answer are made: the turn has completed, and the model is not asked again. */
  readonly isOver?: () => boolean
}

/** What there is to tell a turn that is under way. */
export interface NewsSource {
  /** Whether it is worth asking. */
  readonly mayHaveNews: boolean
  /** Whoever takes it has written down what was taken before: else that may come again. */
  take(): Promise<NewsInput | undefined>
}

/** What is said to a turn that is under way, and up to where that is told once it is in the transcript. */
export interface NewsInput {
  readonly input: readonly InputPart[]
  readonly heard: Heard
}

/** One piece of what a person or a program says. Images are `data:` URLs. */
export type InputPart = { readonly type: 'text'; readonly text: string } | { readonly type: 'image'; readonly url: string }

export interface TurnInput {
  readonly input: readonly InputPart[]
  readonly outputSchema?: JsonObject
  /** For this turn, beside that of the conversation. */
  readonly budget?: Budget
  /** Pinned input is never lost to a compaction. */
  readonly pinned?: boolean
  /** What of it is news: written down with it, for whoever keeps the transcript. */
  readonly heard?: Heard
}

/** Who hears what happens and answers what is asked. */
export interface ConversationListener {
  /** Returns at once; events of one conversation come in order. */
  event(event: EngineEvent): void
  /** Answers one approval. `signal` fires when nobody waits for the answer any more. Rejecting denies. */
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalReply>
}

/** One turn under way. */
export interface Turn {
  readonly id: string
  /** Never rejects. The same is told as the event `turn_ended`, which is the last of its turn. */
  readonly ended: Promise<TurnEnd>
}

/** A conversation with a model that can act. One turn at a time. */
export interface Conversation {
  /** Opaque; hand it to `resume`. */
  readonly id: string
  readonly model: string
  /** Starts a turn. Throws `ConversationBusy` while one is under way, `ConversationClosed` after `close`. */
  submit(input: TurnInput): Turn
  /**
   * Goes on with a turn that an earlier process left, with the calls of it that were never sent: each passes the gate again. `undefined`: there
   * are none. What is submitted instead gives them up. Left out: this engine leaves no call open.
   */
  takeUp?(bounds: Pick<TurnInput, 'outputSchema' | 'budget'>): Turn | undefined
  /** Adds to the turn under way, to be read before its next request to the model. False: no turn takes it any more; submit it. */
  steer(input: readonly InputPart[]): boolean
  /** Ends the turn under way as `interrupted`; settles when it has ended and nothing of it runs any more. Without one: at once. */
  interrupt(): Promise<void>
  /** Interrupts and lets go of everything: processes, connections, files. */
  close(): Promise<void>
}

/** Something that holds conversations. Everything above works with any of them. */
export interface Engine {
  readonly name: 'mini' | 'codex'
  open(options: ConversationOptions, listener: ConversationListener): Promise<Conversation>
  /** Goes on with a conversation that an earlier process left, where it stood. Throws `ConversationUnknown`. */
  resume(id: string, options: ConversationOptions, listener: ConversationListener): Promise<Conversation>
  close(): Promise<void>
}
