import type { RpcCodeName, ToolErrorCode } from './errors.ts'

/** What a JSON-RPC error means to whoever gets it. For the reference and for people at a terminal. */
export const RPC_CODE_MEANINGS: Readonly<Record<RpcCodeName, string>> = {
  parse_error: 'The message is not JSON.',
  invalid_request: 'The message is JSON and no JSON-RPC message.',
  method_not_found: 'The server does not have this method, or the client did not declare what it needs.',
  invalid_params: 'The parameters do not fit; an unknown tool or prompt; in the modern era also a missing resource.',
  internal_error: 'Our own fault. The log has the details, the answer has none.',
  resource_not_found_legacy: 'There is no such resource for this caller (revisions up to 2025-11-25).',
  header_mismatch: 'A required HTTP header is missing or says something else than the body (modern era).',
  missing_client_capability: 'The call needs something that the client did not declare (modern era).',
  unsupported_protocol_version: 'The revision is not served; `data.supported` lists those that are.',
  url_elicitation_required: 'The person has to open a link first (2025-11-25); `data.elicitations` has it.',
  policy_denied: 'A policy refused the call and the turn ends.',
  policy_denied_continue: 'A policy refused the call; the turn goes on without it.',
  policy_reserved_misuse: 'A reserved name was used for something else.',
  policy_evaluator_error: 'The policy could not be evaluated, so nothing was allowed.',
  approval_expired: 'Nobody decided in time.',
  subscribe_unsupported: 'This resource cannot be subscribed to.',
  unsubscribe_unsupported: 'This resource cannot be unsubscribed from.',
  overloaded: 'Too much is under way; try again later.',
}

/** What a failed tool call means and what the caller can do. */
export const TOOL_ERROR_MEANINGS: Readonly<Record<ToolErrorCode, string>> = {
  invalid_argument: 'An argument does not fit; `field` names it. Correct it and call again.',
  not_found: 'There is no such thing, or it is not yours.',
  already_exists: 'The name is taken.',
  forbidden: 'You may not do this, whatever the arguments.',
  conflict: 'It is in a state that does not allow this now. Read it again and decide.',
  quota_exceeded: 'Your share is used up.',
  rate_limited: 'Too many calls in a short time. Wait and try again.',
  lease_lost: 'Somebody else holds the work now. Stop working on it.',
  no_session: 'This needs a connection that lasts, and a stateless request has none. The hint names the way round.',
  unavailable: 'A part that is needed is not there at the moment. Try again later.',
  internal: 'Our own fault. The log has the details, the answer has none.',
}
