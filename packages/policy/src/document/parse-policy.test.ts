import { expect, test } from 'vitest'
import { parsePolicy } from './parse-policy.ts'
import { problemText } from './problem.ts'

const problemsOf = (value: unknown): readonly string[] => {
  const parsed = parsePolicy(value)
  return parsed.kind === 'policy' ? [] : parsed.problems.map(problemText)
}
const ruled = (rule: object): object => ({ rule: [{ name: 'one', decision: 'allow', ...rule }] })

test('an empty policy is one, with what is usual', () => {
  expect(parsePolicy({})).toEqual({ kind: 'policy', policy: { deny_unknown: false, shadow: false, rule: [], example: [] } })
})

test.each<[object, readonly string[]]>([
  [{ rules: [] }, ['rules: there is no such field (there are deny_unknown, shadow, approvers, rule, example)']],
  [
    { rule: [{ name: 'one', decision: 'allow', toll: 'x' }] },
    [
      'one, toll: there is no such field (there are name, kind, agent, caller, mount, tool, resource, prompt, command, annotations, when, counts, decision, reason, delegate)',
    ],
  ],
  [{ rule: [{ decision: 'allow' }] }, ['rule 1, name: Invalid input: expected string, received undefined (write a string)']],
  [
    ruled({ decision: 'maybe' }),
    [
      'one, decision: Invalid option: expected one of "allow"|"ask"|"deny_continue"|"deny_abort" (write one of allow, ask, deny_continue, deny_abort)',
    ],
  ],
  [
    ruled({ annotations: { readOnly: true } }),
    [
      'one, annotations.readOnly: there is no such field (there are readOnlyHint, destructiveHint, idempotentHint, openWorldHint)',
    ],
  ],
  [
    ruled({ tool: 'x', prompt: 'y' }),
    ['one, tool, prompt: a call is one of these, so the rule matches nothing (make a rule of each)'],
  ],
  [ruled({ tool: 'x', kind: 'prompt' }), ['one, kind: tool says already which kind it is (take kind out)']],
  [ruled({ tool: 'x', kind: ['tool', 'prompt'] }), ['one, kind: tool says already which kind it is (take kind out)']],
  [ruled({ caller: 'ada' }), ['one, caller: must be role:name (write it as "user:ada", or "*:*" for everybody)']],
  [ruled({ tool: 'x\\' }), [String.raw`one, tool: ends with a lone \: write \\ for a backslash`]],
  [
    ruled({ decision: 'deny_abort', delegate: true }),
    ['one, delegate: a denial is not delegated: nothing below loosens it (say ask, or take delegate out)'],
  ],
  [
    ruled({ decision: 'deny_continue', counts: { hour: 5 } }),
    ['one, counts: the denial would end after so many calls (put counts into a rule before this one that allows)'],
  ],
  [
    ruled({ when: 'path == 1' }),
    ['one, when: there is no path here (there are args, agent, caller, kind, mount, name, annotations, counts, now)'],
  ],
  [ruled({ when: 'args.a ==' }), [expect.stringMatching(/^one, when: it cannot be read: /)]],
  [
    { rule: [ruled({}), ruled({})].flatMap((each) => Object.values(each).flat()) },
    ['one, name: two rules are called so (rename one)'],
  ],
  [{ approvers: {} }, ['approvers.needed: 1 people must say yes, and 0 may (name more users, or need fewer)']],
  [
    { approvers: { users: ['ada'], needed: 2 } },
    ['approvers.needed: 2 people must say yes, and 1 may (name more users, or need fewer)'],
  ],
])('%j is refused with words that help', (value, problems) => {
  expect(problemsOf(value)).toEqual(problems)
})

test('what a server says of itself allows nothing, unless somebody named the server', () => {
  const distrust =
    'one, annotations: a server says of itself what it likes (name the mount that you trust: mount = "…", without *)'
  const hints = { annotations: { readOnlyHint: true } }
  expect(problemsOf(ruled(hints))).toEqual([distrust])
  expect(problemsOf(ruled({ ...hints, mount: '*' }))).toEqual([distrust])
  expect(problemsOf(ruled({ ...hints, mount: ['files', 'fil*'] }))).toEqual([distrust])
  expect(problemsOf(ruled({ when: 'annotations.readOnlyHint == true' }))).toEqual([distrust])
  expect(problemsOf(ruled({ ...hints, mount: ['files', 'web'] }))).toEqual([])
  expect(problemsOf(ruled({ ...hints, decision: 'ask' }))).toEqual([])
  expect(problemsOf(ruled({ ...hints, decision: 'deny_continue' }))).toEqual([])
})

test('everything that is wrong is said at once', () => {
  const rule = [
    { name: 'a', tool: 'x', prompt: 'y', when: 'none', decision: 'deny_abort', delegate: true },
    { name: 'b', caller: 'x', decision: 'allow' },
  ]
  expect(problemsOf({ rule })).toHaveLength(4)
})

test.each<[object, string]>([
  [{}, 'call.kind: what is called is not said (write tool = "…" or kind and name)'],
  [{ tool: 'x', prompt: 'y' }, 'call.tool, prompt: a call is one of these (keep one)'],
  [{ tool: 'x', name: 'y' }, 'call.name: tool is the name already (take one of them out)'],
  [{ tool: 'x', kind: 'prompt' }, 'call.kind: tool says another (take it out)'],
  [{ tool: 'x', agent: 'helper' }, 'call.agent: must be owner/name (write it as "ada/helper")'],
  [{ tool: 'x', caller: 'root:x' }, 'call.caller: must be role:name (the role is one of user, judge, agent, host, executor)'],
  [{ tool: 'x', args: { at: new Date(0) } }, 'call.args: Date is no value of JSON'],
  [{ tool: 'x', args: { n: Number.NaN } }, 'call.args: NaN is no number of JSON'],
])('an example’s call %j is refused', (call, problem) => {
  expect(problemsOf({ example: [{ call, decision: 'allow' }] })).toEqual([expect.stringContaining(`example 1, ${problem}`)])
})

test('an example names a rule that there is', () => {
  expect(problemsOf({ example: [{ call: { tool: 'x' }, decision: 'ask', rule: 'none' }] })).toEqual([
    'example 1, rule: no rule is called none (name one of this policy)',
  ])
})

test('a policy is bounded in rules and in conditions', () => {
  const many = Array.from({ length: 501 }, (_, at) => ({ name: `r${at}`, decision: 'allow' }))
  expect(problemsOf({ rule: many })).toEqual([expect.stringContaining('rule: Too big')])
  const long = Array.from({ length: 20 }, (_, at) => ({
    name: `r${at}`,
    decision: 'allow',
    when: `name == "${'x'.repeat(1_900)}"`,
  }))
  expect(problemsOf({ rule: long })).toEqual([expect.stringContaining('when: the conditions have')])
})

test.each([null, 1, 'text', [], undefined])('%j is no policy', (value) => {
  expect(parsePolicy(value).kind).toBe('problems')
})
