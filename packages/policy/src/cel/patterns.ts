import { messageOf } from '@parley/protocol'
import { RE2JS } from 're2js'
import { CEL_LIMITS } from './cel-limits.ts'
import { ConditionFault } from './condition-fault.ts'

/** Compiled patterns that are kept; a policy has fewer. */
const KEPT = 1_000

/** Compiles the patterns of `matches` once. They run in linear time, whatever text a stranger sends. */
export class Patterns {
  readonly #compiled = new Map<string, RE2JS>()

  /** Throws `ConditionFault`. */
  compile(pattern: string): RE2JS {
    const known = this.#compiled.get(pattern)
    if (known !== undefined) return known
    const compiled = compile(pattern)
    if (this.#compiled.size >= KEPT) this.#compiled.clear()
    this.#compiled.set(pattern, compiled)
    return compiled
  }
}

function compile(pattern: string): RE2JS {
  if (pattern.length > CEL_LIMITS.patternChars)
    throw new ConditionFault(`a pattern of matches has more than ${CEL_LIMITS.patternChars} characters`, 'shorten it')
  const compiled = parsed(pattern)
  if (compiled.programSize() > CEL_LIMITS.patternSize)
    throw new ConditionFault(`the pattern ${pattern} is too large when its repetitions are written out`, 'repeat less often')
  return compiled
}

function parsed(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new ConditionFault(
      `${pattern} is no pattern: ${messageOf(error)}`,
      'write it as RE2 has it: no look-around, no back-reference',
    )
  }
}
