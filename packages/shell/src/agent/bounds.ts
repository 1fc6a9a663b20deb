import type { Agent, AgentBudgets, WakeRules } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { budgetsOf, hasBudgets } from './budgets.ts'
import { hasWake, wakeOf } from './wake.ts'

/** Whether the options say what an agent may use up, or what wakes it. */
export const hasBounds = (values: Invocation['values']): boolean => hasBudgets(values) || hasWake(values)

/** What the options change of both; what they do not name stays as it was before. */
export function boundsOf(
  values: Invocation['values'],
  before?: Pick<Agent, 'budgets' | 'wake'>,
): { readonly budgets?: AgentBudgets; readonly wake?: WakeRules } {
  return {
    ...(hasBudgets(values) ? { budgets: budgetsOf(values, before?.budgets) } : {}),
    ...(hasWake(values) ? { wake: wakeOf(values, before?.wake) } : {}),
  }
}
