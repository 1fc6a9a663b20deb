import { isJsonObject, type JsonObject, RPC_CODES, RpcError } from '@parley/protocol'
import type { MountCall, MountDecision } from './ports.ts'
import { POLICY_META } from './shown/shown-result.ts'

type Denial = Extract<MountDecision, { readonly kind: 'deny' }>
type Subject = Pick<MountCall<never>, 'mount' | 'name'>

/** The codes that only the gate uses: a client ends its turn by them. */
const RESERVED: ReadonlySet<number> = new Set([
  RPC_CODES.policy_denied,
  RPC_CODES.policy_denied_continue,
  RPC_CODES.policy_reserved_misuse,
  RPC_CODES.policy_evaluator_error,
  RPC_CODES.approval_expired,
])

/** A call that the gate denied. */
export function deniedError(subject: Subject, { reason, endsTurn, isExpired, isFault }: Denial): RpcError {
  if (isFault === true) return new RpcError('policy_evaluator_error', reason, stamp(subject, 'deny', reason))
  if (isExpired === true) return new RpcError('approval_expired', reason, stamp(subject, 'deny', reason))
  const code = endsTurn ? 'policy_denied' : 'policy_denied_continue'
  return new RpcError(code, `denied by policy: ${reason}`, stamp(subject, 'deny', reason))
}

/** A gate that throws denies: what it would have said is not known. */
export function evaluatorError(subject: Subject, cause: unknown): RpcError {
  const reason = 'the policy could not be evaluated, so the call was not made'
  return new RpcError('policy_evaluator_error', reason, stamp(subject, 'deny', reason), { cause })
}

export const isOfGate = ({ code }: RpcError): boolean => RESERVED.has(code)

/** An error of a server as a client may see it: what only the gate says, no server says in its place. */
export function withoutForgery(subject: Subject, error: unknown): unknown {
  if (!(error instanceof RpcError)) return error
  const isStamped = isJsonObject(error.data) && Object.hasOwn(error.data, POLICY_META)
  if (!isOfGate(error) && !isStamped) return error
  const reason = `the server of ${subject.mount} answered with an error that only the policy gate may use`
  return new RpcError('policy_reserved_misuse', reason, stamp(subject, 'misuse', reason), { cause: error })
}

function stamp({ mount, name }: Subject, decision: 'deny' | 'misuse', reason: string): JsonObject {
  return { [POLICY_META]: { decision, mount, name, reason } }
}
