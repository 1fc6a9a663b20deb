import { dollars } from '@parley/protocol'
import { expect, test } from 'vitest'
import { AgentText, agentLine } from './agent-text.ts'
import { widthOf, wrap } from '@parley/screen'
import { counted, usageText } from '@parley/screen/usage'

const thinks = (delta: string) => ({ kind: 'reasoning_summary_delta', delta })
const says = (delta: string) => ({ kind: 'agent_message_delta', delta })
const shown = (pieces: readonly { kind: string; delta?: string }[]): string[] => {
  const text = new AgentText()
  return [...pieces.flatMap((piece) => text.push(piece)), ...text.flush()].map(agentLine)
}

test('pieces become lines, whatever their borders', () => {
  const whole = ['  thinks: First', '  thinks: then more of it', '  says: Hello']
  expect(shown([thinks('**Fir'), thinks('st**\n\nthen'), thinks(' more of it'), says('Hel'), says('lo\n')])).toEqual(whole)
  const letters = Array.from('**First**\n\nthen more of it', thinks)
  expect(shown([...letters, ...Array.from('Hello', says)])).toEqual(whole)
})

test('a boundary parts two thoughts, and an empty one is none', () => {
  expect(shown([thinks('one'), { kind: 'reasoning_summary_boundary' }, thinks('two'), thinks('\n \n')])).toEqual([
    '  thinks: one',
    '  thinks: two',
  ])
})

test('a document is told by its size, however it comes', () => {
  expect(shown([says(' {"main"'), says(': "int main() {}"}')])).toEqual(['  says: (its answer, 26 characters)'])
  expect(shown([says('```cpp\n'), says('int main() {}\n```')])).toEqual(['  says: (its answer, 24 characters)'])
  expect(shown([says('I answer:\n{"main"'), says(': 1}')])).toEqual(['  says: I answer:', '  says: {"main": 1}'])
})

test('what is kept is bounded, and nothing in it moves the cursor', () => {
  const text = new AgentText()
  const lines = Array.from({ length: 50 }, () => text.push(says('x'.repeat(100)))).flat()
  expect(lines.map((line) => line.text.length)).toEqual([1_000, 1_000, 1_000, 1_000])
  expect(shown([says('\u001b[31mred\u0007 \u202eend')])).toEqual(['  says: red end'])
  expect(shown([{ kind: 'odd\u001b[2Jkind', delta: 'x' }])).toEqual(['  oddkind: x'])
})

test('long lines are broken between words', () => {
  expect(wrap('  says: one two three four', 15, '    ')).toEqual(['  says: one two', '    three four'])
  for (const line of wrap(`  says: ${'wide '.repeat(20)}${'x'.repeat(99)} 测试`, 20, '    '))
    expect(widthOf(line)).toBeLessThanOrEqual(20)
})

test('what was used, with what it cost', () => {
  const base = { schema_version: 'usage.v1', job_id: 'job', codex_thread_id: null, model: 'm' } as const
  const usage = { input_tokens: 12_345, cached_input_tokens: 0, output_tokens: 7, cached_output_tokens: 0 }
  expect(usageText({ ...base, usage, calls: 1, cost_microusd: 1_500_000 })).toBe('m: 1 call, 12 345 tokens in, 7 out, $1.50')
  expect(usageText({ ...base, usage, calls: 2, unpriced_calls: 1, cost_microusd: 12 })).toMatch(/\$0\.000012 and 1 unpriced$/)
  expect(usageText({ ...base, usage, calls: 2, unpriced_calls: 2, cost_microusd: 0 })).toMatch(/unpriced$/)
  expect(usageText({ ...base, usage, cost_microusd: null })).toMatch(/unpriced$/)
  expect([0, 1, 125_000, 1_250_000, 10_000_000].map(dollars)).toEqual(['$0.00', '$0.000001', '$0.125', '$1.25', '$10.00'])
  expect([0, 999, 1_000, 1_234_567].map(counted)).toEqual(['0', '999', '1 000', '1 234 567'])
})
