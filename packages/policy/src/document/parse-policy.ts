import {
  Approvers,
  PolicyCounts,
  ExampleCall,
  isJsonObject,
  type JsonValue,
  PolicyDocument,
  PolicyExample,
  PolicyRule,
} from '@parley/protocol'
import type * as z from 'zod'
import { exampleFaults } from './example-call.ts'
import type { PolicyProblem } from './problem.ts'
import { policyFaults } from './rule-faults.ts'

export type ParsedPolicy =
  | { readonly kind: 'policy'; readonly policy: PolicyDocument }
  | { readonly kind: 'problems'; readonly problems: readonly PolicyProblem[] }

/** A policy from what its TOML is parsed to. Either all of it is right, or everything that is wrong is said. */
export function parsePolicy(value: unknown): ParsedPolicy {
  const parsed = PolicyDocument.safeParse(value)
  if (!parsed.success) return { kind: 'problems', problems: parsed.error.issues.map((issue) => problemOf(issue, value)) }
  const problems = [
    ...policyFaults(parsed.data),
    ...parsed.data.example.flatMap((example, at) => exampleProblems(example, at, parsed.data)),
  ]
  return problems.length === 0 ? { kind: 'policy', policy: parsed.data } : { kind: 'problems', problems }
}

function exampleProblems(example: PolicyExample, at: number, { rule }: PolicyDocument): readonly PolicyProblem[] {
  const where = `example ${at + 1}`
  const faults = exampleFaults(example.call).map((fault) => ({ rule: where, ...fault }))
  const isKnown = example.rule === undefined || rule.some(({ name }) => name === example.rule)
  if (isKnown) return faults
  return [
    ...faults,
    { rule: where, field: 'rule', problem: `no rule is called ${example.rule}`, hint: 'name one of this policy' },
  ]
}

function problemOf(issue: z.core.$ZodIssue, value: unknown): PolicyProblem {
  const [part, at, ...rest] = issue.path
  const isItem = (part === 'rule' || part === 'example') && typeof at === 'number'
  const path = isItem ? rest : issue.path
  const field = path.length === 0 ? null : path.map(String).join('.')
  const rule = isItem ? itemName(part, at, value) : null
  if (issue.code !== 'unrecognized_keys') return { rule, field, problem: firstLine(issue.message), hint: hintOf(issue) }
  const inside = isItem && rest.length === 0 ? part : String(issue.path.at(-1) ?? '')
  const known = FIELDS[inside]
  return {
    rule,
    field: [...path.map(String), issue.keys.join(', ')].join('.'),
    problem: 'there is no such field',
    hint: known === undefined ? 'take it out' : `there are ${known.join(', ')}`,
  }
}

/** What there is at each place. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  '': Object.keys(PolicyDocument.shape),
  rule: Object.keys(PolicyRule.shape),
  example: Object.keys(PolicyExample.shape),
  call: Object.keys(ExampleCall.shape),
  approvers: Object.keys(Approvers.shape),
  counts: Object.keys(PolicyCounts.shape),
  annotations: ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'],
}

function itemName(part: string, at: number, value: unknown): string {
  const items: JsonValue | undefined = isJsonObject(value) ? value[part] : undefined
  const item = Array.isArray(items) ? items[at] : undefined
  const name = isJsonObject(item) ? item['name'] : undefined
  return part === 'rule' && typeof name === 'string' ? name : `${part} ${at + 1}`
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? text

function hintOf(issue: z.core.$ZodIssue): string | null {
  if (issue.code === 'invalid_value') return `write one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_big') return 'make it shorter'
  if (issue.code === 'invalid_type') return `write a ${issue.expected}`
  return null
}
