import { isJsonObject, POLICY_LIMITS } from '@parley/protocol'
import { parse } from 'smol-toml'
import { compileCondition } from '../cel/condition.ts'

/**
 * Compiles the conditions of what may be a policy, one with each step, so that others have their turn in between: hundreds of them take a
 * tenth of a second. Whoever reads or compiles it afterwards finds them ready. Nothing is said of what is wrong.
 */
export function* compileInSteps(value: unknown): Generator<undefined, void> {
  const rules: unknown = isJsonObject(value) ? value['rule'] : undefined
  if (!Array.isArray(rules) || rules.length > POLICY_LIMITS.rules) return
  const conditions = rules.flatMap((rule: unknown) => {
    const when = isJsonObject(rule) ? rule['when'] : undefined
    return typeof when === 'string' ? [when] : []
  })
  // One that has too many is refused for that, and none of them is looked at.
  if (conditions.reduce((sum, { length }) => sum + length, 0) > POLICY_LIMITS.conditionsChars) return
  for (const condition of conditions) {
    compileCondition(condition)
    yield
  }
}

/** The same for the text of one. */
export function* compileTextInSteps(text: string): Generator<undefined, void> {
  let value: unknown
  try {
    value = parse(text)
  } catch {
    return
  }
  yield* compileInSteps(value)
}
