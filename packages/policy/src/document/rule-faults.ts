import { type PolicyDocument, POLICY_LIMITS, type PolicyRule } from '@parley/protocol'
import { compileCondition } from '../cel/condition.ts'
import type { VariableName } from '../cel/cel-types.ts'
import { compileGlob } from '../call/glob.ts'
import { listOf, namedKindsOf } from './named-kinds.ts'
import type { PolicyProblem } from './problem.ts'

/** What fits its schema and is wrong all the same. */
export function policyFaults({ rule: rules, approvers }: PolicyDocument): readonly PolicyProblem[] {
  const problems: PolicyProblem[] = []
  const names = rules.map(({ name }) => name)
  for (const [at, name] of names.entries())
    if (names.indexOf(name) !== at)
      problems.push({ rule: name, field: 'name', problem: 'two rules are called so', hint: 'rename one' })
  const chars = rules.reduce((sum, { when }) => sum + (when?.length ?? 0), 0)
  if (chars > POLICY_LIMITS.conditionsChars)
    problems.push({
      rule: null,
      field: 'when',
      problem: `the conditions have ${chars} characters in all, ${POLICY_LIMITS.conditionsChars} at most`,
      hint: 'match by agent, mount and tool where that will do',
    })
  else for (const rule of rules) problems.push(...ruleFaults(rule))
  const people = approvers === undefined || approvers.admins ? Infinity : approvers.users.length + (approvers.owner ? 1 : 0)
  if (approvers !== undefined && people < approvers.needed)
    problems.push({
      rule: null,
      field: 'approvers.needed',
      problem: `${approvers.needed} people must say yes, and ${people} may`,
      hint: 'name more users, or need fewer',
    })
  return problems
}

function ruleFaults(rule: PolicyRule): readonly PolicyProblem[] {
  const faults: PolicyProblem[] = []
  const fault = (field: string, problem: string, hint: string): void =>
    void faults.push({ rule: rule.name, field, problem, hint })
  const kinds = namedKindsOf(rule)
  if (kinds.length > 1) fault(kinds.join(', '), 'a call is one of these, so the rule matches nothing', 'make a rule of each')
  const [kind] = kinds
  if (kind !== undefined && rule.kind !== undefined && !(listOf(rule.kind)?.length === 1 && rule.kind.includes(kind)))
    fault('kind', `${kind} says already which kind it is`, 'take kind out')
  if (listOf(rule.caller)?.some((pattern) => !pattern.includes(':')))
    fault('caller', 'must be role:name', 'write it as "user:ada", or "*:*" for everybody')
  if (rule.decision.startsWith('deny_')) {
    if (rule.delegate) fault('delegate', 'a denial is not delegated: nothing below loosens it', 'say ask, or take delegate out')
    if (rule.counts !== undefined)
      fault('counts', 'the denial would end after so many calls', 'put counts into a rule before this one that allows')
  }
  const uses = conditionUses(rule, fault)
  const trustsServer = rule.annotations !== undefined || uses.has('annotations')
  if (rule.decision === 'allow' && trustsServer && !namesMounts(rule))
    fault('annotations', 'a server says of itself what it likes', 'name the mount that you trust: mount = "…", without *')
  return faults
}

function conditionUses(
  { when }: PolicyRule,
  fault: (field: string, problem: string, hint: string) => void,
): ReadonlySet<VariableName> {
  if (when === undefined) return new Set()
  const compiled = compileCondition(when)
  if (compiled.kind === 'condition') return compiled.condition.uses
  fault('when', compiled.message, compiled.hint)
  return new Set()
}

function namesMounts({ mount }: PolicyRule): boolean {
  return listOf(mount)?.every((pattern) => compileGlob(pattern).literal !== undefined) ?? false
}
