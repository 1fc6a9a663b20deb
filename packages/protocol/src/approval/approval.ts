import * as z from 'zod'
import type { Moves } from '../moves.ts'

/** What is asked about: a mount's tool, resource or prompt; a command or a patch of an engine's own; a question of a mounted server; a change of a policy. */
export const ApprovalKind = z.enum(['tool', 'resource', 'prompt', 'command', 'patch', 'question', 'proposal'])
export type ApprovalKind = z.infer<typeof ApprovalKind>

/**
 * `pending` waits for a person. `approved` may be sent, once; `dispatched` is on its way, `returned` and `failed` say what came back, and
 * `unknown` that nobody lived to hear it: it is never tried again by itself. `withdrawn`: its caller took it back.
 */
export const ApprovalStatus = z.enum([
  'pending',
  'approved',
  'denied',
  'expired',
  'withdrawn',
  'dispatched',
  'returned',
  'failed',
  'unknown',
])
export type ApprovalStatus = z.infer<typeof ApprovalStatus>

/** A person says what became of an `unknown` one; everything else that has ended stays as it is. */
export const APPROVAL_MOVES: Moves<ApprovalStatus> = {
  pending: ['approved', 'denied', 'expired', 'withdrawn'],
  approved: ['dispatched', 'expired', 'withdrawn'],
  denied: [],
  expired: [],
  withdrawn: [],
  dispatched: ['returned', 'failed', 'unknown'],
  returned: [],
  failed: [],
  unknown: ['returned', 'failed'],
}

/**
 * What a person says: yes, once; for as long as the session goes on; as a rule, from now on; or no, and the agent goes on, or its turn
 * ends.
 */
export const ApprovalAnswer = z.enum(['approve', 'approve_session', 'approve_rule', 'deny_continue', 'deny_abort'])
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>

export const isYes = (answer: ApprovalAnswer): boolean => answer.startsWith('approve')

/** Every bound of approvals, by name. */
export const APPROVAL_LIMITS = {
  /** How long one waits for a person, unless a policy says otherwise. */
  ttlMs: 3_600_000,
  /** Those that wait, of one agent and of all agents of one person. */
  pendingPerAgent: 50,
  pendingPerPerson: 500,
  /** The arguments of a call that a person is asked about, and what is shown of them. */
  argumentsBytes: 1024 * 1024,
  previewBytes: 64 * 1024,
  /** What is shown of a proposed policy: all of its text, and what it changes. */
  proposalBytes: 256 * 1024,
  /** Previews in one page of a list, together; the first is in it in any case. */
  pagePreviewChars: 4 * 1024 * 1024,
  reasonChars: 2_000,
  searchChars: 200,
  /** The longest that a host waits in one call. */
  waitMs: 30_000,
  /** Those that ended are kept so long. */
  keptMs: 90 * 86_400_000,
} as const
