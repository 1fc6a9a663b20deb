import * as z from 'zod'
import { BackgroundCall } from '../../agent/background-call.ts'
import { CallId } from '../../ids.ts'
import { ADDS, ENDS, READS, tool } from '../../tool.ts'

/** A window of a result, as `resources_read` has one of a resource. */
const ResultWindow = z.object({
  text: z.string(),
  offset: z.int(),
  next_offset: z.int().nullable(),
  eof: z.boolean(),
  /** The bytes of all that is kept. */
  total: z.int(),
})

export const loopCall = tool({
  name: 'loop_call',
  roles: ['agent'],
  doc: 'Calls a tool of a mount in the background and answers at once. The call passes the same rules as any other; you are told when it has ended, and loop_result gives what came of it.',
  input: z.strictObject({
    tool: z.string().min(1).max(1_024).describe('as it is listed, with the name of its mount'),
    arguments: z.record(z.string(), z.json()).default({}),
  }),
  output: BackgroundCall.pick({ call_id: true, uri: true, state: true }),
  annotations: ADDS,
})

export const loopResult = tool({
  name: 'loop_result',
  roles: ['agent'],
  doc: 'How a background call stands, and a window of its result: the JSON that the tool answered with. Go on with `next_offset` as `offset` until `eof`.',
  input: z.strictObject({
    call_id: CallId,
    offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).describe('in bytes'),
    max_bytes: z
      .int()
      .min(4)
      .max(1024 * 1024)
      .default(25_000),
  }),
  output: z.object({ call: BackgroundCall, result: ResultWindow.nullable() }),
  annotations: READS,
})

export const loopCancel = tool({
  name: 'loop_cancel',
  roles: ['agent'],
  doc: 'Ends a background call that goes on. What its tool did by then is done.',
  input: z.strictObject({ call_id: CallId }),
  output: z.object({ call_id: CallId, /** False: it had ended before. */ cancelling: z.boolean() }),
  annotations: ENDS,
})

export const loopCalls = tool({
  name: 'loop_calls',
  roles: ['agent'],
  doc: 'The background calls of this agent, the newest first: those that go on, and the last that ended.',
  input: z.strictObject({}),
  output: z.object({ calls: z.array(BackgroundCall) }),
  annotations: READS,
})
