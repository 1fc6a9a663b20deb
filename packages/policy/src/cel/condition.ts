import { type CelEnv, celEnv, isCelError, parse, plan } from '@bufbuild/cel'
import type { Expr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js'
import { messageOf, POLICY_LIMITS } from '@parley/protocol'
import type { CallValues } from './call-values.ts'
import { meteredFunctions } from './cel-functions.ts'
import { CEL_LIMITS } from './cel-limits.ts'
import type { VariableName } from './cel-types.ts'
import { checkCondition } from './check-condition.ts'
import { ConditionFault } from './condition-fault.ts'
import { costOf, metered } from './metered.ts'
import { type Charges, CostMeter, USED_UP } from './meter.ts'
import { Patterns } from './patterns.ts'

/** Whether a condition holds for a call, or why that cannot be said. */
export type ConditionResult =
  | { readonly kind: 'held'; readonly holds: boolean }
  | { readonly kind: 'failed'; readonly reason: string }

/** A condition that was parsed, checked and bounded. */
export interface Condition {
  readonly uses: ReadonlySet<VariableName>
  /** Never throws, and ends soon whatever the call holds: it pays out of what the whole decision may cost. */
  holds(values: CallValues, meter: CostMeter): ConditionResult
}

export type CompiledCondition =
  | { readonly kind: 'condition'; readonly condition: Condition }
  | { readonly kind: 'fault'; readonly message: string; readonly hint: string }

const YES: ConditionResult = { kind: 'held', holds: true }
const NO: ConditionResult = { kind: 'held', holds: false }
const SHOWN_CHARS = 200

/** All conditions share these: one is evaluated at a time, from beginning to end. `paying` is the decision that it is evaluated for. */
let paying = new CostMeter()
const charges: Charges = {
  charge: (cost) => paying.charge(cost),
  chargeChars: (chars) => paying.chargeChars(chars),
}
const patterns = new Patterns()
const environment: CelEnv = celEnv({ funcs: meteredFunctions(charges, patterns) })

/** Compiled conditions that are kept: parsing takes up to a millisecond or two, and a policy is read, tried and activated. */
const KEPT = 2_000
const compiled = new Map<string, CompiledCondition>()

export function compileCondition(text: string): CompiledCondition {
  const known = compiled.get(text)
  if (known !== undefined) return known
  // The oldest goes: those of a policy that is compiled in pieces stay together.
  if (compiled.size >= KEPT) compiled.delete(compiled.keys().next().value ?? '')
  const condition = compile(text)
  compiled.set(text, condition)
  return condition
}

function compile(text: string): CompiledCondition {
  try {
    const expr = parsed(text)
    const { uses } = checkCondition(expr, patterns)
    return { kind: 'condition', condition: { uses, holds: evaluator(expr) } }
  } catch (error) {
    if (error instanceof ConditionFault) return { kind: 'fault', message: error.message, hint: error.hint }
    return { kind: 'fault', message: short(messageOf(error)), hint: 'write it in another way' }
  }
}

function evaluator(expr: Expr): Condition['holds'] {
  const bounded = metered(expr)
  const cost = costOf(bounded)
  const evaluate = plan(environment, bounded)
  return (values, meter) => {
    paying = meter
    try {
      meter.charge(cost)
      const result = evaluate(values)
      if (meter.isUsedUp) return failed(USED_UP)
      if (isCelError(result)) return failed(short(result.message))
      if (typeof result !== 'boolean') return failed('it is neither true nor false')
      return result ? YES : NO
    } catch (error) {
      return failed(short(messageOf(error)))
    }
  }
}

function parsed(text: string): Expr {
  if (text.length > POLICY_LIMITS.conditionChars)
    throw new ConditionFault(`it has more than ${POLICY_LIMITS.conditionChars} characters`, 'divide it among several rules')
  if (bracketsIn(text) > CEL_LIMITS.brackets)
    throw new ConditionFault(`more than ${CEL_LIMITS.brackets} brackets are inside of each other`, 'write it flatter')
  const expr = tree(text)
  if (expr === undefined) throw new ConditionFault('it is empty', 'leave it out, or write a condition')
  return expr
}

function tree(text: string): Expr | undefined {
  try {
    return parse(text).expr
  } catch (error) {
    throw new ConditionFault(`it cannot be read: ${short(messageOf(error))}`, 'write it as CEL has it, with texts in quotes')
  }
}

/** Those in texts count too: it is a bound and no grammar. */
function bracketsIn(text: string): number {
  let [open, most] = [0, 0]
  for (const char of text) {
    if (char === '(' || char === '[' || char === '{') open += 1
    else if (char === ')' || char === ']' || char === '}') open -= 1
    most = Math.max(most, open)
  }
  return most
}

const failed = (reason: string): ConditionResult => ({ kind: 'failed', reason })
const short = (text: string): string => (text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text)
