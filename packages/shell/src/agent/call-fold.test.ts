import { expect, test } from 'vitest'
import { CallFold } from './call-fold.ts'
import { callLineText } from './call-line-text.ts'

const AT = '2026-11-18T10:11:12.000Z'
const call = { at: AT, step: 'decided', by: 'engine', kind: 'command', mount: null, name: 'bash' }
let offset = 0
const line = (entry: object) => ({ text: JSON.stringify(entry), nextOffset: (offset += 1) })

function told(...entries: readonly object[]): string[] {
  const fold = new CallFold()
  const calls = [...entries.flatMap((entry) => fold.take(line(entry))), ...fold.open()]
  return calls.map((each) => callLineText(each, { env: { TZ: 'UTC' } }).replace('2026-11-18 10:11:12 ', ''))
}

test.each([
  [
    { kind: 'allow', approval: 'apr_1', by: { layer: 'agent', rule: 'asks' } },
    'approved (apr_1), as the rule asks of the policy of the agent asks',
  ],
  [{ kind: 'allow', by: { allowances: ['alw_1'] } }, 'allowed by alw_1'],
  [{ kind: 'allow', by: { layer: 'installation', rule: null } }, 'allowed by the policy of the installation'],
])('%j is told as %s', (decision, text) => {
  expect(told({ ...call, id: 'c', decision })).toEqual([`engine: command bash: ${text}; no end is written yet`])
})

test('a call is told when it has ended, one whose name is used again before, and an end without its call not at all', () => {
  const decision = { kind: 'allow' }
  expect(
    told(
      { at: AT, id: 9, step: 'returned', ms: 1, isError: false },
      { ...call, id: 1, name: 'a', decision },
      { ...call, id: 2, name: 'b', decision },
      { at: AT, id: 2, step: 'dispatched' },
      { at: AT, id: 2, step: 'returned', ms: 3, isError: true },
      { ...call, id: 1, name: 'c\u001b[31m', decision },
      { at: AT, id: 1, step: 'dispatched' },
      { cut: true },
    ),
  ).toEqual([
    'engine: command b: allowed, no rule covers it; returned an error after 3 ms',
    'engine: command a: allowed, no rule covers it; no end is written yet',
    'engine: command c⟦U+001B⟧[31m: allowed, no rule covers it; under way',
  ])
})
