import type { JsonObject, JsonValue, TokenUsage } from '@parley/protocol'
import type { ApprovalDecision, ApprovalRequest } from './approval.ts'

/** Why a turn failed. Programs switch on it. */
export const TURN_FAILURES = [
  /** The budget of requests, tokens, money or time is used up. */
  'budget_requests',
  'budget_tokens',
  'budget_money',
  'budget_time',
  /** The provider refused the key (401), or what the key may do (403): its own words are in the message. Set another key. */
  'model_unauthorized',
  'model_forbidden',
  /** The provider does not know the model (404). Ask for another. */
  'model_not_found',
  /** The provider refused what was asked (400 and the like). */
  'model_rejected',
  /** What answered is no server of models: a redirect, a web page. The base URL is wrong. */
  'model_misconfigured',
  /** The provider's account has no money left (402, `insufficient_quota`), or its bound never lets the request through. */
  'model_quota',
  /** Too busy in every try, or for longer than we wait (429, 529). Try again later. */
  'model_overloaded',
  /** No answer in any try: 5xx, cut streams. Try again later. */
  'model_unavailable',
  /** Nobody took the connection in any try. The gateway says where; the server is down or the base URL is wrong. */
  'model_unreachable',
  /** The model was asked and said nothing for too long. */
  'model_timeout',
  /** An answer that no retry made readable. */
  'model_malformed',
  /** The model declined to answer. */
  'model_refusal',
  /** The answer was cut by the bound on its length. */
  'model_length',
  /** More than the context holds, also after compaction. */
  'context_overflow',
  /** A call was denied in a way that ends the turn. */
  'denied',
  /** A mount that is required could not be reached. */
  'mount_failed',
  /** The process behind the engine died. */
  'engine_lost',
  'internal',
] as const
export type TurnFailure = (typeof TURN_FAILURES)[number]

export type TurnEnd =
  /** `message` is the last thing the model said. */
  | { readonly kind: 'completed'; readonly message: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly code: TurnFailure; readonly message: string }

export interface PlanStep {
  readonly step: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

export interface FileChange {
  /** Absolute, or below the working folder. */
  readonly path: string
  readonly kind: 'add' | 'delete' | 'update'
  /** Where an updated file goes. */
  readonly movedTo?: string
  /** Unified; for an added file its content as additions. */
  readonly diff: string
}

/** `declined`: denied, by a person or a policy. */
export type ActStatus = 'completed' | 'failed' | 'declined'

/** The try that follows one that failed. */
export interface NextTry {
  /** Its number; the first one was 1. */
  readonly attempt: number
  /** How many there will be at most; left out where nobody says. */
  readonly most?: number
  readonly waitMs: number
  /** Why, in a few words for those who watch; left out where there are none but those of the reason. */
  readonly brief?: string
  /** Why, with the words of the provider. */
  readonly reason: string
}

/** What happens in a conversation. Every `…_begin` has exactly one `…_end`, before `turn_ended`. */
export type EngineEvent =
  | { readonly type: 'turn_started'; readonly turn: string }
  | { readonly type: 'message_delta'; readonly item: string; readonly delta: string }
  | { readonly type: 'message'; readonly item: string; readonly text: string }
  | {
      readonly type: 'reasoning_delta'
      readonly item: string
      readonly part: number
      readonly delta: string
      readonly raw: boolean
    }
  /** A new part of the summary begins. */
  | { readonly type: 'reasoning_part'; readonly item: string; readonly part: number }
  | { readonly type: 'reasoning'; readonly item: string; readonly text: string }
  | { readonly type: 'plan'; readonly explanation: string | null; readonly steps: readonly PlanStep[] }
  /** `mount` is null for a tool of the engine's own. */
  | {
      readonly type: 'tool_begin'
      readonly call: string
      readonly mount: string | null
      readonly tool: string
      readonly arguments: JsonValue
    }
  | { readonly type: 'tool_output'; readonly call: string; readonly text: string }
  | {
      readonly type: 'tool_end'
      readonly call: string
      readonly status: ActStatus
      /** As the mounted server answered (`content`, `structuredContent`, `isError`); null when it did not. */
      readonly result: JsonObject | null
      readonly error: string | null
      readonly durationMs: number
    }
  | { readonly type: 'command_begin'; readonly call: string; readonly argv: readonly string[]; readonly folder: string }
  | { readonly type: 'command_output'; readonly call: string; readonly stream: 'stdout' | 'stderr'; readonly bytes: Uint8Array }
  | {
      readonly type: 'command_end'
      readonly call: string
      readonly status: ActStatus
      readonly exitCode: number | null
      /** Both streams as they came, cut to a bound. */
      readonly output: string
      readonly durationMs: number
    }
  | { readonly type: 'patch_begin'; readonly call: string; readonly changes: readonly FileChange[] }
  | { readonly type: 'patch_end'; readonly call: string; readonly status: ActStatus; readonly error: string | null }
  /** All that the turn changed in files so far, as one unified diff. */
  | { readonly type: 'diff'; readonly diff: string }
  | { readonly type: 'approval_requested'; readonly request: ApprovalRequest }
  | { readonly type: 'approval_resolved'; readonly id: string; readonly decision: ApprovalDecision }
  /** After every request to the model, also one that failed: `last` is that request, `total` the conversation. */
  | {
      readonly type: 'usage'
      /** The id under which the call is booked. */
      readonly call: string
      readonly last: TokenUsage
      readonly total: TokenUsage
      readonly estimated: boolean
      readonly contextTokens: number | null
    }
  | ({ readonly type: 'retry' } & NextTry)
  | { readonly type: 'compacted'; readonly before: number; readonly after: number }
  | { readonly type: 'warning'; readonly message: string }
  | { readonly type: 'turn_ended'; readonly turn: string; readonly end: TurnEnd }
