import * as z from 'zod'

/**
 * Why a queued job is with no judge. `no_judge`: none is connected. `no_language`: none of those that are has the language.
 * `no_engine`: none of those that have it offers the engine. `draining`: those that could take it take no more. `busy`: they
 * are at work.
 */
export const WaitingCode = z.enum(['no_judge', 'no_language', 'no_engine', 'draining', 'busy'])
export type WaitingCode = z.infer<typeof WaitingCode>

/** `code` is stable, `message` is for people and names judges. */
export const Waiting = z.object({ code: WaitingCode, message: z.string() })
export type Waiting = z.infer<typeof Waiting>
