import * as z from 'zod'
import { ModelWire } from './usage.ts'

const Event = z.record(z.string(), z.unknown())

/** One answer of a script: the events of a stream as they stand on the wire, or a whole body with a status. */
export const ScriptAnswer = z.union([
  z.object({
    events: z.array(Event).min(1),
    /** Between two events, so that one can watch. */
    pause_ms: z.int().min(0).max(10_000).default(0),
  }),
  z.object({ status: z.int().min(200).max(599), headers: z.record(z.string(), z.string()).default({}), body: Event }),
])
export type ScriptAnswer = z.infer<typeof ScriptAnswer>

/**
 * A file of answers that stands in for a model. Which answer is next follows from the request alone: as many as the
 * conversation already holds are skipped. So a request that is sent again gets the same answer again. It costs nothing.
 */
export const ModelScript = z.object({
  schema_version: z.literal('script.v1'),
  /** The name under which jobs ask for it. */
  model: z.string().min(1).max(256),
  display_name: z.string().max(128),
  wire: ModelWire.default('responses'),
  context_tokens: z.int().nullable().default(null),
  answers: z.array(ScriptAnswer).min(1).max(1_000),
})
export type ModelScript = z.infer<typeof ModelScript>
