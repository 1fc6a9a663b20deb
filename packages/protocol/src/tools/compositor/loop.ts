import * as z from 'zod'
import { AgentRest, Yield } from '../../agent/wake.ts'
import { SETS, tool } from '../../tool.ts'

export const loopYield = tool({
  name: 'loop_yield',
  roles: ['agent'],
  doc: 'Ends this turn, and the agent rests until a person says something, a resource that it subscribed to changes, a background call ends or `after_s` have passed. What woke it stands in its next request. An approval wakes nobody. Any turn that begins before ends the wait.',
  input: Yield,
  output: z.object({ rest: AgentRest }),
  annotations: SETS,
})
