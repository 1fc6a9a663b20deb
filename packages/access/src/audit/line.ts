import type { GatewayCaller } from '../caller.ts'
import type { AuditLine } from './recorder.ts'

const TARGET_MAX_CHARS = 256

/** What a caller did, as a line of the audit log. */
export function lineOf(
  caller: GatewayCaller,
  action: string,
  end: { readonly at: number; readonly outcome: AuditLine['outcome']; readonly code?: string; readonly target?: string },
): AuditLine {
  return {
    at: end.at,
    actor: caller.name,
    role: caller.admin ? 'admin' : caller.role,
    action,
    target: end.target?.slice(0, TARGET_MAX_CHARS) ?? null,
    outcome: end.outcome,
    code: end.code ?? null,
    remote: caller.remote,
  }
}

/** What somebody did or tried before we knew who they are. */
export function lineOfStranger(
  action: string,
  end: {
    readonly at: number
    readonly outcome: AuditLine['outcome']
    readonly remote: string
    readonly actor?: string
    readonly code?: string
    readonly target?: string
  },
): AuditLine {
  return {
    at: end.at,
    actor: end.actor ?? 'anonymous',
    role: end.actor === undefined ? 'none' : 'user',
    action,
    target: end.target?.slice(0, TARGET_MAX_CHARS) ?? null,
    outcome: end.outcome,
    code: end.code ?? null,
    remote: end.remote,
  }
}
