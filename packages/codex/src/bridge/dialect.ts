import type { ApprovalDecision, ApprovalRequest, EngineEvent, InputPart, TurnEnd } from '@parley/agent'
import type { JsonObject, JsonValue } from '@parley/protocol'
import type { ConversationRef, EventMessage } from '../port/backed-conversation.ts'
import type { OpenOrder, TurnOrder } from '../port/order.ts'
import type { LinePeer, WireId } from '@parley/rpc/line-peer'

/** One way in which versions of Codex speak. Chosen by version and by probing; each lives in a folder of its own. */
export interface Dialect {
  /** `v2`: 0.108 and later; `v1`: 0.43 to 0.107; `mcp`: 0.42. */
  readonly name: 'v2' | 'v1' | 'mcp'
  /** Arguments of the `codex` command that make it speak this. */
  readonly args: readonly string[]
  /** Whether messages carry `"jsonrpc": "2.0"`. */
  readonly jsonrpc: boolean
  /** Says hello. What comes from the other side meanwhile and afterwards goes to the talk. Throws where Codex speaks something else. */
  greet(peer: LinePeer, sink: TalkSink, client: { readonly name: string; readonly version: string }): Promise<CodexTalk>
}

/** A thread that is open in the Codex process. */
export interface OpenedThread {
  readonly id: string
  readonly model: string
  readonly effort: string | null
  readonly rolloutPath: string
  readonly initialMessages: readonly EventMessage[]
  /** May become known later. */
  readonly contextWindow: number | null
}

/** One process that was greeted. Promises reject with `RemoteFailure` (its own words) or `PeerGone`. */
export interface CodexTalk {
  readonly userAgent: string
  open(order: OpenOrder): Promise<OpenedThread>
  /** `quiet`: what was said before is not needed. */
  resume(which: ConversationRef, order: OpenOrder, how?: { readonly quiet: boolean }): Promise<OpenedThread>
  /** Answers Codex's id of the turn. Events of the turn may come before the answer does. */
  startTurn(threadId: string, order: TurnOrder): Promise<string>
  /** Settles when it is Codex's, or with false when it never will be: `over` fires at the end of the turn it was for. */
  steer(threadId: string, input: readonly InputPart[], over: AbortSignal): Promise<boolean>
  /** Settles when Codex took it; the end of the turn comes through the sink. */
  interrupt(threadId: string): Promise<void>
  /** Lets go of a thread in the process. */
  forget(threadId: string): Promise<void>
  /** Settles when what was told is kept as well: some versions write it a moment later, and lose it when they end before. */
  settled?(): Promise<void>
  /** Anything else, as it is. */
  ask(method: string, params?: JsonObject): Promise<JsonValue>
  /** What comes from Codex; the owner of the peer hands it on. `id` is Codex's own for the request. */
  request(method: string, params: JsonObject, id?: WireId): Promise<JsonValue>
  notified(method: string, params: JsonObject): void
}

/** Who hears what happens in the threads of one process. Events of a thread nobody has open are dropped. */
export interface TalkSink {
  /** Everything but `turn_started` and `turn_ended`, which `ended` and the owner of the turn tell; every `…_begin` gets its `…_end` from the owner at the latest. */
  event(threadId: string, event: EngineEvent): void
  /** The turn is over; told once for each. `threadId` has no turn after it. */
  ended(threadId: string, end: TurnEnd): void
  /** `signal` fires when Codex does not wait any more. */
  approve(threadId: string, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision>
  /** Notifications that are about no thread: sign-in, configuration. */
  notified(method: string, params: JsonObject): void
  warn(message: string): void
}
