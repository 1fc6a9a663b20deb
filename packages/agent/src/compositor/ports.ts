import type {
  ApprovalId,
  BackgroundCall,
  BackgroundCallEnd,
  ByteShare,
  CallId,
  COMPOSITOR_TOOLS,
  JsonObject,
  JsonValue,
} from '@parley/protocol'
import type { Call, Caller, ClientTransport, Implementation } from '@parley/rpc'
import type * as z from 'zod'
import type { GateDecision } from '../gate.ts'
import type { CompositorLimits } from './compositor-limits.ts'

export type MountCallKind = 'tool' | 'resource' | 'prompt' | 'question'

/**
 * A call of a mount that is about to be made: by the names that its server gives, whatever clients see. Or, as a `question`, what the server is
 * about to ask the client of a call.
 */
export interface MountCall<C extends Caller> {
  readonly caller: C
  readonly kind: MountCallKind
  readonly mount: string
  /** The tool, the prompt, the resource's URI, or the method of the question. */
  readonly name: string
  /** Of a question its parameters. */
  readonly arguments: JsonValue
  /** What the server says about a tool, where it was listed. A hint: a server may lie. */
  readonly annotations: JsonObject | undefined
  /** An argument of it is completed, and it is not made: nobody is asked about that. */
  readonly completes?: true
  /** Nobody waits for it: it is taken up again, or looked at again, and nobody is asked about that. */
  readonly unattended?: true
  /** It goes on beside the turns of its caller: what is decided about it ends none of them. */
  readonly background?: true
  /** How the engine that makes the call names it, where it does. Anybody may write that: believe it of an engine of ours alone. */
  readonly engineCall?: string
}

/** In the `_meta` of a call: how the engine that makes it names it. */
export const ENGINE_CALL_META = 'parley/engine-call'

/**
 * Whoever wants to ask a person does so before it answers. `approval`: a person let this very call through; `arguments`: with these instead;
 * `said`: what that person has to say to whoever called.
 * `isExpired`: nobody answered in time. `isFault`: it could not be decided. `wouldAsk`: a person would be asked, had anybody waited for that.
 */
export type MountDecision =
  | {
      readonly kind: 'allow'
      readonly approval?: ApprovalId
      readonly arguments?: JsonObject
      readonly said?: string
      readonly by?: DecisionOrigin
    }
  | (Extract<GateDecision, { readonly kind: 'deny' }> & {
      readonly isExpired?: true
      readonly isFault?: true
      readonly wouldAsk?: true
      readonly by?: DecisionOrigin
    })

/** Which rule of whose policy decided, for whoever reads the log; what allowances answered; what policies in shadow would have said. */
export interface DecisionOrigin {
  readonly layer?: string
  readonly rule?: string | null
  readonly allowances?: readonly string[]
  readonly shadow?: { readonly decision: string; readonly layer: string | null; readonly rule: string | null }
}

/**
 * Who waits for what was decided. A signal is made when it is asked for: one for each call would cost more than most decisions. Whoever asks a
 * person says that the call is `held`, and when it is decided, that it `goesOn`.
 */
export type MountWait = Pick<Call, 'signal' | 'cancellation' | 'held'> & Partial<Pick<Call, 'goesOn'>>

/** Every call of a mount passes here first, every subscription (watching is reading), and every question. One that throws denies. */
export interface MountGate<C extends Caller> {
  decide(call: MountCall<C>, wait: MountWait): MountDecision | Promise<MountDecision>
}

/** What becomes of calls, for whoever keeps a log of them. */
export interface CallRecorder<C extends Caller> {
  /** Proposed and decided. Nothing is sent before this settles; where it fails, nothing is sent at all. */
  decided(id: number, call: MountCall<C>, decision: MountDecision, ms: number): void | Promise<void>
  dispatched(id: number): void
  /** `isError`: the tool ran and says that it failed. */
  returned(id: number, end: { readonly ms: number; readonly isError: boolean }): void
  failed(id: number, end: { readonly ms: number; readonly code: number; readonly message: string }): void
}

/** Where the agent's own subscriptions are kept, by the URIs that clients see. */
export interface SubscriptionShelf<C extends Caller> {
  /** For whom they are taken up again: who subscribed is not kept. */
  readonly caller: C
  list(): readonly string[] | Promise<readonly string[]>
  add(uri: string): void | Promise<void>
  /** What stands for the content of one that is new, once it is watched; null: as below. */
  known?(uri: string, digest: string | null): void | Promise<void>
  remove(uri: string): void | Promise<void>
  /**
   * One of them has changed, or may have: nobody knows, because it was not watched for a while. `version` grows with each change of that
   * resource.
   */
  updated?(uri: string, version: number, change: ResourceChange): void
}

/** `isCertain`: its server says that it has changed. */
export interface ResourceChange {
  readonly isCertain: boolean
  /** What stands for its content now; null: it may not be read without asking a person, or is too large. */
  readonly read: () => Promise<string | null>
}

type DeskTool =
  | 'chat_post'
  | 'chat_read_since'
  | 'loop_yield'
  | 'policy_get'
  | 'policy_check'
  | 'policy_propose'
  | 'policy_withdraw'
type Asked<Name extends DeskTool> = z.output<(typeof COMPOSITOR_TOOLS)[Name]['input']>
type Said<Name extends DeskTool> = z.input<(typeof COMPOSITOR_TOOLS)[Name]['output']>

/** What an agent may see and wish of the policies that decide about it. Nothing that is asked for here changes anything by itself. */
export interface PolicyDesk<C extends Caller> {
  get(): Promise<Said<'policy_get'>>
  check(call: Asked<'policy_check'>, caller: C): Said<'policy_check'>
  propose(wish: Asked<'policy_propose'>): Promise<Said<'policy_propose'>>
  withdraw(proposal: Asked<'policy_withdraw'>): Promise<Said<'policy_withdraw'>>
}

/** What an agent says to those who follow it, and hears from them. */
export interface ChatDesk {
  post(message: Asked<'chat_post'>): Promise<Said<'chat_post'>>
  /** `signal`: nobody waits for it any more. */
  readSince(page: Asked<'chat_read_since'>, signal: AbortSignal): Promise<Said<'chat_read_since'>>
}

/** Where turns of the agent are taken: what it wants of the one that it is in. */
export interface LoopDesk {
  yield(wants: Asked<'loop_yield'>): Promise<Said<'loop_yield'>>
}

/** Where the agent's background calls are kept. */
export interface BackgroundDesk {
  /** Written down before it is made; throws where this caller may begin none now. */
  begin(tool: string, args: JsonObject, caller: Caller): Promise<BackgroundCall>
  end(id: CallId, end: BackgroundCallEnd): Promise<void>
  get(id: CallId): Promise<{ readonly call: BackgroundCall; readonly result: string | null }>
  list(): Promise<readonly BackgroundCall[]>
  /** Nothing of it goes on here any more, whatever is kept of its end. */
  over(id: CallId): void
  /** The call that a URI names, where it names one of this agent's. */
  callAt(uri: string): CallId | undefined
  /** What may be kept of a text: nothing that is secret. */
  mask(text: string): string
  /** The same of a value, as JSON. */
  jsonOf(value: JsonValue): string
}

export interface ConnectNeed {
  /** What the server will be told that it can ask. */
  readonly capabilities: JsonObject
  /** Aborted when nobody waits for the connection any more. */
  readonly signal: AbortSignal
}

export interface CompositorOptions<C extends Caller> {
  /** Who the compositor says it is, to its clients and to its mounts. */
  readonly info: Implementation
  readonly gate: MountGate<C>
  /**
   * Makes a way to the server of a mount that is not open yet: a new child, a new dial. Called again after one ended. The words of
   * an error are shown to clients and logged, so they must not hold a secret.
   */
  readonly connect: (mount: string, need: ConnectNeed) => Promise<ClientTransport>
  readonly recorder?: CallRecorder<C>
  readonly subscriptions?: SubscriptionShelf<C>
  /** Offers the tools about policies. */
  readonly policy?: PolicyDesk<C>
  /** Offers the tools of the chat. */
  readonly chat?: ChatDesk
  /** Offers the tools of the loop. */
  readonly loop?: LoopDesk
  /** Offers the tools of background calls. */
  readonly background?: BackgroundDesk
  /** Who takes the turns of the agent: the tools of the loop and of background calls are for nobody else. Left out: for nobody. */
  readonly isEngine?: (caller: C) => boolean
  /** Offers `tools_search`: beside all tools, or instead of those that are not marked. Left out: not at all. */
  readonly toolSearch?: 'beside' | 'instead'
  readonly limits?: Partial<CompositorLimits>
  /** A share of a room that several compositors have for what they keep of servers. Left out: the limits of each are all. */
  readonly keptShare?: () => ByteShare
  /** What is told of mounts, without what is secret of them: a server may repeat what it was given. Left out: as it is. */
  readonly masked?: (words: string) => string
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}
