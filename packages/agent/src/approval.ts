import type { JsonObject, JsonValue } from '@parley/protocol'
import type { FileChange } from './event.ts'

/** Something that is done only if somebody says so. */
export type ApprovalRequest = {
  readonly id: string
  readonly call: string
  readonly reason: string | null
  /** The arguments that an answer may change. Left out: this engine does the thing as it is, or not at all. */
  readonly editable?: JsonObject
} & (
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly folder: string }
  | { readonly kind: 'patch'; readonly changes: readonly FileChange[]; readonly grantRoot: string | null }
  | { readonly kind: 'tool'; readonly mount: string | null; readonly tool: string; readonly arguments: JsonValue }
)

/**
 * `approved` once, or `approved_for_session` for what is the same as well; `denied`: the model is told and goes on;
 * `abort`: the turn ends as interrupted.
 */
export type ApprovalDecision = 'approved' | 'approved_for_session' | 'denied' | 'abort'

/**
 * What somebody says to a request: a decision alone, or with more. What its engine cannot carry is not said: `arguments` only where the request
 * is `editable`.
 */
export type ApprovalReply = ApprovalDecision | FullReply

export interface FullReply {
  readonly decision: ApprovalDecision
  /** Why. The model reads it on a denial, where its engine has a way to tell it. */
  readonly reason?: string
  /** Approved with these instead; the model is told. */
  readonly arguments?: JsonObject
}

export const fullReply = (answer: ApprovalReply): FullReply => (typeof answer === 'string' ? { decision: answer } : answer)
