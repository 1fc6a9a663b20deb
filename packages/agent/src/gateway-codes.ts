import type { TurnFailure } from './event.ts'

/** The codes under which our own gateway tells what is wrong with a channel or its server, and what a turn ends with then. */
const FAILURES: ReadonlyMap<string, TurnFailure> = new Map([
  ['upstream_unauthorized', 'model_unauthorized'],
  ['upstream_forbidden', 'model_forbidden'],
  ['upstream_model_unknown', 'model_not_found'],
  ['upstream_quota', 'model_quota'],
  ['upstream_redirected', 'model_misconfigured'],
  ['upstream_bad_answer', 'model_misconfigured'],
  ['upstream_unreachable', 'model_unreachable'],
  ['upstream_cut', 'model_unavailable'],
  ['upstream_timeout', 'model_timeout'],
])

/** The gateway itself has enough to do, or is about to end. */
export const GATEWAY_BUSY: ReadonlySet<string> = new Set(['rate_limited', 'draining', 'unavailable'])

/** `undefined`: no word of our gateway about a channel. */
export const gatewayFailure = (code: string | null): TurnFailure | undefined => FAILURES.get(code ?? '')
