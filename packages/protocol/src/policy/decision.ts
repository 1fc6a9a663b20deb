import * as z from 'zod'

/** `deny_continue`: the model reads why and goes on. `deny_abort`: the turn ends. */
export const PolicyDecision = z.enum(['allow', 'ask', 'deny_continue', 'deny_abort'])
export type PolicyDecision = z.infer<typeof PolicyDecision>

/** Whose rules they are, the uppermost first: an admin's for all, a person's for all of their agents, and one agent's. */
export const PolicyLayer = z.enum(['installation', 'owner', 'agent'])
export type PolicyLayer = z.infer<typeof PolicyLayer>

/** What somebody wants to do: all of these pass the same gate. */
export const CallKind = z.enum(['tool', 'resource', 'prompt', 'command', 'patch', 'question'])
export type CallKind = z.infer<typeof CallKind>
