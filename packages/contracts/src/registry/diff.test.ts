import { expect, test } from 'vitest'
import { type Change, diffVersions } from './diff.ts'
import { basisOf } from './registry.ts'
import { OBSERVED_VERSIONS } from './registry-types.ts'
import { schemaFields, typeText } from './schema-fields.ts'
import { knownVersion } from '../version/version.ts'

const of = (changes: readonly Change[], method: string) => changes.filter((change) => change.method === method)

test('between 0.42 and 0.44 every method moves, approvals change their casing, and two things come', () => {
  const changes = diffVersions('0.42.0', '0.44.0')
  expect(of(changes, 'getUserAgent')).toEqual([
    { method: 'getUserAgent', where: 'method', field: '', change: 'changed', before: 'codex mcp', after: 'codex app-server' },
  ])
  const fields = of(changes, 'applyPatchApproval').filter(({ where }) => where === 'request')
  expect(fields.filter(({ change }) => change === 'added').map(({ field }) => field)).toEqual(
    expect.arrayContaining(['conversationId', 'callId', 'fileChanges']),
  )
  expect(fields.filter(({ change }) => change === 'removed').map(({ field }) => field)).toEqual(
    expect.arrayContaining(['conversation_id', 'call_id', 'file_changes']),
  )
  for (const method of ['fuzzyFileSearch', 'sessionConfigured']) expect(of(changes, method)).toMatchObject([{ change: 'added' }])
})

test('later almost all of them are gone', () => {
  const gone = diffVersions('0.44.0', '0.166.0').filter(({ where, change }) => where === 'method' && change === 'removed')
  expect(gone.map(({ method }) => method)).toContain('newConversation')
  expect(gone.map(({ method }) => method)).not.toContain('gitDiffToRemote')
})

test.each(OBSERVED_VERSIONS)('%s does not differ from itself', (version) => {
  expect(diffVersions(version, version)).toEqual([])
})

test('a schema is told by its fields', () => {
  const schema = {
    type: 'object',
    required: ['items'],
    properties: {
      items: {
        type: 'array',
        items: {
          anyOf: [
            { type: 'object', properties: { type: { const: 'text' }, text: { type: 'string' } }, required: ['type', 'text'] },
            { type: 'object', properties: { type: { const: 'image' }, url: { type: ['string', 'null'] } }, required: ['type'] },
          ],
        },
      },
      extra: { type: 'object', additionalProperties: { type: 'object', properties: { a: { enum: ['x', 'y'] } } } },
    },
  }
  expect(schemaFields(schema).map(({ field, type, required }) => `${field}: ${type}${required ? '' : '?'}`)).toEqual([
    'items: list of object',
    'items[](type=text): object',
    'items[](type=text).type: "text"',
    'items[](type=text).text: string',
    'items[](type=image): object',
    'items[](type=image).type: "image"',
    'items[](type=image).url: string | null?',
    'extra: object?',
    'extra.*.a: "x" | "y"?',
  ])
  expect(typeText({ type: 'array', items: { type: 'string' } })).toBe('list of string')
})

test.each([
  ['0.42.0', '0.42.0', true],
  ['0.42.9', '0.42.0', false],
  ['0.43.0', '0.44.0', false],
  ['0.107.2', '0.44.0', false],
  ['0.108.0', '0.153.4', false],
  ['0.160.0', '0.153.4', false],
  ['0.166.0', '0.166.0', true],
  ['0.190.1', '0.166.0', false],
])('%s follows what was recorded of %s', (version, basis, exact) => {
  expect(basisOf(knownVersion(version))).toEqual({ version: basis, exact })
})

test('nothing stands for a version that is too old', () => {
  expect(basisOf(knownVersion('0.41.0'))).toBeUndefined()
})
