import * as z from 'zod'
import { AgentKind, AgentSettings } from './agent.ts'
import { AGENT_LIMITS } from './limits.ts'
import { MountName, MountSettings, ServerSpec } from './mount.ts'
import { POLICY_LIMITS } from '../policy/limits.ts'
import { textWithin } from './text-within.ts'

/** What new agents are made from: a file of the installation's, or the built-in `default`. */
export const Preset = z.strictObject({
  description: z.string().max(1_000).default(''),
  /** Left out: local where there is a model, else external. */
  kind: AgentKind.optional(),
  ...AgentSettings.partial().shape,
  instructions: textWithin(AGENT_LIMITS.instructionsBytes).optional(),
  /** TOML, as for policy.set: what holds a new agent from the start, as the first version of its own policy. */
  policy: textWithin(POLICY_LIMITS.textBytes).min(1).optional(),
  mounts: z
    .array(z.strictObject({ name: MountName, server: ServerSpec, options: MountSettings.prefault({}) }))
    .max(AGENT_LIMITS.mounts)
    .default([]),
})
export type Preset = z.infer<typeof Preset>
