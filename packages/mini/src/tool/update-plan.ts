import * as z from 'zod'
import type { BoundTool } from './toolbox.ts'
import { TOOL_BOUNDS } from './bounds.ts'
import { headOf } from './cut.ts'
import { ownTool } from './own-tool.ts'
import { said } from './result.ts'

const Step = z.strictObject({
  step: z.string().min(1).describe('What is to be done, in a few words.'),
  status: z.enum(['pending', 'in_progress', 'completed']),
})

const Input = z.strictObject({
  explanation: z.string().nullable().describe('Why the plan changed; null if there is nothing to say.'),
  plan: z.array(Step).max(TOOL_BOUNDS.planSteps).describe('All steps in order, each time anew.'),
})

export function updatePlanTool(): BoundTool {
  return ownTool({
    name: 'update_plan',
    description:
      'Shows the person your plan. Call it when the plan is made and when a step begins or ends. At most one step is in_progress at a time.',
    input: Input,
    run: ({ explanation, plan }, { emit }) => {
      const steps = plan.map(({ step, status }) => ({ step: headOf(step, TOOL_BOUNDS.planStepBytes), status }))
      emit({ type: 'plan', explanation, steps })
      return Promise.resolve(said('the plan is shown'))
    },
  })
}
