import { PolicyDocument } from '@parley/protocol'
import { expect, test } from 'vitest'
import { proposalPreview } from './proposal-preview.ts'

const policy = (...rules: object[]): PolicyDocument => PolicyDocument.parse({ rule: rules })
const NOTHING = { calls: 0, changed: 0, looser: 0, items: [] }
const linesOf = (
  active: PolicyDocument,
  then: PolicyDocument,
  replayed: Parameters<typeof proposalPreview>[0]['replayed'] = NOTHING,
) => proposalPreview({ text: '', note: '', policy: then, active, replayed }).text.split('\n')

test('of a rule that changes each field is named, as it was and as it would be', () => {
  const before = policy({ name: 'reading', mount: 'files', tool: 'read_*', when: 'args.path == "a"', decision: 'allow' })
  const after = policy({
    name: 'reading',
    tool: ['read_*', 'move\u202e'],
    when: `args.path != "${'b'.repeat(60)}"`,
    decision: 'allow',
  })
  expect(linesOf(before, after)).toContain(
    `~ rule reading: mount: files → none; tool: read_* → ["read_*","move⟦U+202E⟧"]; when: args.path == "a" → args.path != "${'b'.repeat(34)}…`,
  )
})

test('where very many rules change, the last are shown without what they say', () => {
  const rules = (mount: string) => policy(...Array.from({ length: 101 }, (_, at) => ({ name: `r${at}`, mount, decision: 'ask' })))
  const lines = linesOf(rules('a'), rules('b'))
  expect(lines).toContain('~ rule r99: mount: a → b')
  expect(lines).toContain('~ rule r100: mount')
})

test('calls that would be decided otherwise are named', () => {
  const made = { agent: 'ada/mine', kind: 'tool', mount: 'files', name: 'move\n', at: '2026-11-18T10:00:00.000Z' }
  const items = [{ ...made, before: 'ask' as const, after: 'allow' as const, rule: 'all', looser: true }]
  const lines = linesOf(policy(), policy(), { calls: 9, changed: 2, looser: 2, items })
  expect(lines.slice(0, 3)).toEqual([
    'Of the last 9 calls 2 would be decided otherwise, 2 of them looser.',
    '  looser: tool files move⟦U+000A⟧ of 2026-11-18T10:00:00.000Z: ask → allow by the rule all',
    '… and 1 more calls',
  ])
})
