import { messageOf } from '@parley/protocol'
import { parse } from 'smol-toml'
import { type ParsedPolicy, parsePolicy } from './parse-policy.ts'

/** A policy from its text. Whatever is wrong with it is said, and nothing is thrown. */
export function readPolicy(text: string): ParsedPolicy {
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    const [problem = ''] = messageOf(error).split('\n', 1)
    return {
      kind: 'problems',
      problems: [{ rule: null, field: null, problem, hint: 'it must be TOML: docs/policy.md has examples' }],
    }
  }
  return parsePolicy(value)
}
