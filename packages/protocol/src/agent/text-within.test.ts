import { expect, test } from 'vitest'
import { AGENT_LIMITS, Preset, TOOLS } from '../index.ts'
import { textWithin } from './text-within.ts'

test('a bound in bytes counts bytes, whatever the letters are', () => {
  const bounded = textWithin(6)
  for (const text of ['', 'aaaaaa', 'ééé', '€€', '😀aa']) expect(bounded.safeParse(text).success).toBe(true)
  for (const text of ['aaaaaaa', 'éééa', '€€a', '😀aaa', '\ud800\ud800a'])
    expect(bounded.safeParse(text).error?.issues.at(-1)?.message).toMatch(/more than 6 bytes|<=6 char/)
})

test.for([
  ['agent.create', 'instructions', AGENT_LIMITS.instructionsBytes],
  ['agent.update', 'instructions', AGENT_LIMITS.instructionsBytes],
  ['agent.prompt', 'text', AGENT_LIMITS.promptBytes],
  ['agent.run', 'text', AGENT_LIMITS.promptBytes],
] as const)('%s takes no %s beyond its bytes', ([name, field, most]) => {
  const agent = name === 'agent.create' ? {} : { agent_id: `agt_${'0'.repeat(26)}` }
  const given = (text: string) => TOOLS[name].input.safeParse({ ...agent, [field]: text })
  expect(given('é'.repeat(most / 2)).success).toBe(true)
  expect(given('é'.repeat(most / 2 + 1)).error?.issues).toMatchObject([{ path: [field], message: `has more than ${most} bytes` }])
})

test('neither does a preset', () => {
  const most = AGENT_LIMITS.instructionsBytes
  expect(Preset.safeParse({ instructions: 'é'.repeat(most / 2 + 1) }).error?.issues).toMatchObject([{ path: ['instructions'] }])
})
