import * as z from 'zod'
import { BackgroundCall, BackgroundCallEnd } from '../../agent/background-call.ts'
import { AGENT_LIMITS } from '../../agent/limits.ts'
import { CallId } from '../../ids.ts'
import { textWithin } from '../../agent/text-within.ts'
import { ADDS, READS, SETS, tool } from '../../tool.ts'
import { AgentClaim } from '../host.ts'

const Arguments = textWithin(AGENT_LIMITS.backgroundArgumentsBytes)
const ToolName = z.string().min(1).max(1_024)

export const hostCallBegin = tool({
  name: 'host.call_begin',
  roles: ['host'],
  doc: 'A call of an agent that this host holds goes on in the background: written down before it is made. The same `call_id` again is the same call.',
  input: z.strictObject({ ...AgentClaim.shape, call_id: CallId, tool: ToolName, arguments_json: Arguments }),
  output: z.object({ call: BackgroundCall }),
  annotations: ADDS,
})

export const hostCallEnd = tool({
  name: 'host.call_end',
  roles: ['host'],
  doc: 'A background call has ended. Its agent is told in the same commit.',
  input: z.strictObject({ ...AgentClaim.shape, call_id: CallId, end: BackgroundCallEnd }),
  output: z.object({ call: BackgroundCall }),
  annotations: SETS,
})

export const hostCallGet = tool({
  name: 'host.call_get',
  roles: ['host'],
  doc: 'A background call of an agent that this host holds, with its result.',
  input: z.strictObject({ ...AgentClaim.shape, call_id: CallId }),
  output: z.object({ call: BackgroundCall, result: z.string().nullable() }),
  annotations: READS,
})

export const hostCalls = tool({
  name: 'host.calls',
  roles: ['host'],
  doc: 'The background calls of an agent that this host holds, the newest first.',
  input: AgentClaim,
  output: z.object({ items: z.array(BackgroundCall) }),
  annotations: READS,
})
