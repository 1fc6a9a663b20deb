import * as z from 'zod'
import { AGENT_LIMITS } from './limits.ts'

/** What an agent may be told besides prompts: a message of a person, a resource that changed, a background call that ended, a time that came. */
export const NewsKind = z.enum(['chat', 'resource', 'call', 'timer'])
export type NewsKind = z.infer<typeof NewsKind>

/** What may wake an agent that rests. A timer that it set itself always does, and an approval never. */
export const WakeRules = z.strictObject({
  chat: z.boolean().default(true),
  resources: z.boolean().default(true),
  calls: z.boolean().default(true),
  /** Changes of resources wake it at most once in so many seconds; one that comes earlier wakes it when that time has passed. */
  every_s: z.int().min(1).max(AGENT_LIMITS.wakeEveryS).default(10),
})
export type WakeRules = z.infer<typeof WakeRules>

export const WakeOn = z.enum(['chat', 'resources', 'calls'])
export type WakeOn = z.infer<typeof WakeOn>

const Uri = z.string().min(1).max(AGENT_LIMITS.uriChars)
const Say = z.string().max(AGENT_LIMITS.newsChars)

/** What an agent asks for when it ends its turn by itself. What is left out stays as its rules have it. */
export const Yield = z.strictObject({
  wake_on: z
    .array(WakeOn)
    .max(3)
    .optional()
    .describe('what may wake it this time, of what its rules allow; left out: all of that'),
  resources: z
    .array(Uri)
    .max(AGENT_LIMITS.yieldResources)
    .optional()
    .describe('only changes of these wake it, of those that it subscribed to'),
  after_s: z.int().min(1).max(AGENT_LIMITS.yieldS).optional().describe('it is woken after so many seconds in any case'),
  say: Say.optional().describe('what it is to be told then, in its own words'),
})
export type Yield = z.infer<typeof Yield>

/** For what an agent rests that ended its turn by itself, until another one begins; as it is kept. */
export const RestRecord = z.object({
  wake_on: z.array(WakeOn).nullable(),
  resources: z.array(Uri).nullable(),
  /** When it is woken in any case. */
  at: z.int().nullable(),
  say: Say.nullable(),
})
export type RestRecord = z.infer<typeof RestRecord>

/** As people are shown it. */
export const AgentRest = RestRecord.omit({ at: true }).extend({ until: z.iso.datetime().nullable() })
export type AgentRest = z.infer<typeof AgentRest>
