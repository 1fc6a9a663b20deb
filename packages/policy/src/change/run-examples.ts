import type { PolicyDocument, PolicyExample } from '@parley/protocol'
import { compilePolicy } from '../decide/compile-policy.ts'
import { decide, type PolicyAnswer } from '../decide/decide.ts'
import { exampleCall } from '../document/example-call.ts'

/** What a policy decides about one of its own examples. */
export interface ExampleRun {
  /** Which example it is, from 0 on. */
  readonly at: number
  readonly example: PolicyExample
  readonly answer: PolicyAnswer
  readonly passed: boolean
}

/** Every example, decided by this policy alone. One in shadow decides as if it were not. */
export function runExamples(policy: PolicyDocument): readonly ExampleRun[] {
  const layers = [{ layer: 'agent', policy: compilePolicy({ ...policy, shadow: false }) }] as const
  return policy.example.map((example, at) => {
    const answer = decide(exampleCall(example.call), layers)
    const passed = answer.decision === example.decision && (example.rule === undefined || answer.rule === example.rule)
    return { at, example, answer, passed }
  })
}
