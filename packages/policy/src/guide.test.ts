import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { expect, test } from 'vitest'
import { runExamples } from './change/run-examples.ts'
import { policyOf } from './fixture/test-call.ts'

const guide = readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8')
const policies = [...guide.matchAll(/^```toml\n(.*?)^```$/gms)].map(([, text = '']) => text)

test.each(policies.map((text, at) => [at + 1, text] as const))(
  'policy %i of docs/policy.md is right, and decides as its examples say',
  (_, text) => {
    const policy = policyOf(parse(text))
    expect(policy.example.length).toBeGreaterThan(0)
    expect(runExamples(policy).filter(({ passed }) => !passed)).toEqual([])
  },
)

test('there are policies in it', () => {
  expect(policies).toHaveLength(5)
})
