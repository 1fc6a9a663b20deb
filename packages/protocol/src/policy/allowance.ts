import * as z from 'zod'
import { CallKind, PolicyLayer } from './decision.ts'

/** An approval that goes on until it expires. It turns an `ask` of the layers named into `allow`, and never a denial. */
export const Allowance = z.object({
  id: z.string(),
  agent_id: z.string(),
  /** Only in this session of the agent's client; null for all of them. */
  session: z.string().nullable(),
  kind: CallKind,
  mount: z.string().nullable(),
  /** The version of the mount's specification that was approved: another one is another server. */
  mount_version: z.int().nullable(),
  name: z.string(),
  /** Only the call with exactly this digest; null for all of that name. */
  digest: z.string().nullable(),
  /** Whose questions it answers: `default` is the one that is asked when no rule covers a call. */
  answers: z.array(z.union([PolicyLayer, z.literal('default')])),
  expires_at: z.iso.datetime(),
})
export type Allowance = z.infer<typeof Allowance>
