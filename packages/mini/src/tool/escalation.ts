import type { JsonObject } from '@parley/protocol'

/** What the model says when it wants a command to run outside the sandbox. */
export interface Escalation {
  readonly justification: string | null
}

/**
 * Whether a call of `shell` asks for more than the conversation's reach. It is offered only where the approval mode is
 * `on-request`; whoever grants it runs the call with `reach: 'full-access'`.
 */
export function asksForMore(tool: string, args: JsonObject): Escalation | undefined {
  if (tool !== 'shell' || args['with_escalated_permissions'] !== true) return undefined
  const { justification } = args
  return { justification: typeof justification === 'string' ? justification : null }
}
