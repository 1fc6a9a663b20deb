import { expect, test } from 'vitest'
import { compilePolicy } from '../decide/compile-policy.ts'
import { decide } from '../decide/decide.ts'
import { callOf } from '../fixture/test-call.ts'
import { readPolicy } from '../document/read-policy.ts'
import { ruleFromCall } from './rule-from-call.ts'
import { textWithRule } from './rule-text.ts'

const TEXT = `# Ours.
[[rule]]
name = "reads" # fine
tool = "read_*"
decision = "allow"

# Money is asked about.
[[rule]]
name = "rest"
decision = "ask"
counts = { hour = 3 }

[[example]]
call = { mount = "files", tool = "write_file" }
decision = "ask"
`

const call = callOf({ mount: 'files', name: 'write_file', arguments: { path: '/a "b"', n: 1.5, deep: [{ x: true }] } })
const madeOf = (of: typeof call) => {
  const made = ruleFromCall(of, 'allow', 'Ada said so')
  if (made.kind === 'refused') throw new Error(made.reason)
  return made
}

function decisionOf(text: string, of = call) {
  const read = readPolicy(text)
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems))
  return decide(of, [{ layer: 'agent', policy: compilePolicy(read.policy) }]).decision
}

test('a rule goes before the one that asked, and all that people wrote stays', () => {
  const text = textWithRule(TEXT, madeOf(call), 'rest') ?? ''
  expect(text.startsWith(TEXT.slice(0, TEXT.indexOf('[[rule]]\nname = "rest"')))).toBe(true)
  for (const line of TEXT.split('\n')) expect(text).toContain(line)
  const read = readPolicy(text)
  expect(read.kind === 'policy' && read.policy.rule.map(({ name }) => name)).toEqual([
    'reads',
    expect.stringMatching(/^allow-/),
    'rest',
  ])
  expect([decisionOf(TEXT), decisionOf(text)]).toEqual(['ask', 'allow'])
  expect(decisionOf(text, callOf({ mount: 'files', name: 'write_file', arguments: { path: '/b' } }))).toBe('ask')
})

test('an empty policy gets its first rule; the same again changes nothing that is decided', () => {
  const once = textWithRule('', madeOf(call), null) ?? ''
  expect(decisionOf(once)).toBe('allow')
  const twice = readPolicy(textWithRule(once, madeOf(call), null) ?? '')
  expect(twice.kind === 'policy' && [twice.policy.rule.length, twice.policy.example.length]).toEqual([1, 1])
})

test('rules that are written in another way are written anew', () => {
  const text = textWithRule('rule = [{ name = "rest", decision = "ask" }]\n', madeOf(call), 'rest') ?? ''
  expect(decisionOf(text)).toBe('allow')
})

test('what TOML cannot hold, and what is no policy, gives no text', () => {
  expect(textWithRule(TEXT, madeOf(callOf({ mount: 'files', name: 'w', arguments: { a: null } })), 'rest')).toBeUndefined()
  expect(textWithRule('x = 1', madeOf(call), null)).toBeUndefined()
})

test.each([
  ['a = ', 'TOML'],
  ['[[rule]]\nname = "x"', 'decision'],
  ['\u0000', 'TOML'],
])('%j is said to be wrong', (text, word) => {
  const read = readPolicy(text)
  expect(read.kind === 'problems' && JSON.stringify(read.problems)).toContain(word)
})
