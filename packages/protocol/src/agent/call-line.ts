import * as z from 'zod'
import { CallKind, PolicyLayer } from '../policy/decision.ts'

const At = z.iso.datetime()
/** The compositor numbers calls anew whenever a host takes the agent; an engine names its own. */
const CallName = z.union([z.int(), z.string()])

/**
 * One line of the log of an agent's calls. What was decided is written before anything is sent; how it ended when there is time. That a call
 * went out has a line of its own only where it takes long.
 */
export const CallLine = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('decided'),
    at: At,
    id: CallName,
    /** The caller, and behind a space which connection of it. */
    by: z.string(),
    kind: CallKind,
    mount: z.string().nullable(),
    name: z.string(),
    decision: z.object({
      kind: z.enum(['allow', 'deny']),
      /** A person let this very call through. */
      approval: z.string().optional(),
      reason: z.string().optional(),
      /** Left out: no rule covers it. */
      by: z
        .object({
          layer: PolicyLayer.optional(),
          rule: z.string().nullish(),
          allowances: z.array(z.string()).optional(),
        })
        .optional(),
    }),
  }),
  z.object({ step: z.literal('dispatched'), at: At, id: CallName }),
  /** `isError`: it was done and says itself that it failed. */
  z.object({ step: z.literal('returned'), at: At, id: CallName, ms: z.number(), isError: z.boolean() }),
  z.object({ step: z.literal('failed'), at: At, id: CallName, ms: z.number(), code: z.int(), message: z.string() }),
])
export type CallLine = z.infer<typeof CallLine>
