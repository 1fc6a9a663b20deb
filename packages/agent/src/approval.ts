import type { JsonValue } from '@parley/protocol'
import type { FileChange } from './event.ts'

/** Something that is done only if somebody says so. */
export type ApprovalRequest = { readonly id: string; readonly call: string; readonly reason: string | null } & (
  | { readonly kind: 'command'; readonly argv: readonly string[]; readonly folder: string }
  | { readonly kind: 'patch'; readonly changes: readonly FileChange[]; readonly grantRoot: string | null }
  | { readonly kind: 'tool'; readonly mount: string | null; readonly tool: string; readonly arguments: JsonValue }
)

/**
 * `approved` once, or `approved_for_session` for what is the same as well; `denied`: the model is told and goes on;
 * `abort`: the turn ends as interrupted.
 */
export type ApprovalDecision = 'approved' | 'approved_for_session' | 'denied' | 'abort'
