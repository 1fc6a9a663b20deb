import type { JsonObject } from '@parley/protocol'
import { describe, expect, test } from 'vitest'
import { fitsStrict } from '../../model/strict-schema.ts'
import { mountedSchema } from './mounted-schema.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})
const text: JsonObject = { type: 'string' }
const nested = (depth: number): JsonObject => (depth === 0 ? text : object({ inner: nested(depth - 1) }))

describe('a strict mode takes', () => {
  test.each([
    ['no properties', object({})],
    ['plain ones', object({ a: text, b: { type: ['integer', 'null'], description: 'x' }, c: { enum: ['x', 1, null] } })],
    ['lists of objects', object({ list: { type: 'array', items: object({ a: text }) } })],
    ['a choice', object({ a: { anyOf: [text, { type: 'null' }] } })],
    [
      'references within',
      object(
        { a: { $ref: '#/$defs/A' } },
        { $defs: { A: object({ again: { anyOf: [{ $ref: '#/$defs/A' }, { type: 'null' }] } }) } },
      ),
    ],
    ['four levels', nested(4)],
    ['properties named like keywords', object({ oneOf: text, pattern: text, default: text })],
  ])('%s', (_name, schema) => {
    expect(fitsStrict(schema)).toBe(true)
  })
})

describe('a strict mode refuses', () => {
  test.each([
    ['a root that is no object', text],
    ['a choice at the root', object({}, { anyOf: [object({})] })],
    ['more properties than are named', { ...object({ a: text }), additionalProperties: true }],
    ['nothing said about more properties', { type: 'object', properties: { a: text }, required: ['a'] }],
    ['a property that may be left out', { ...object({ a: text, b: text }), required: ['a'] }],
    ['the same within', object({ a: { type: 'object', properties: { b: text } } })],
    ['a free-form object', object({ a: { type: 'object' } })],
    ['keywords that it does not know', object({ a: { type: 'string', pattern: 'x' } })],
    ['defaults', object({ a: { type: 'string', default: 'x' } })],
    ['oneOf', object({ a: { oneOf: [text] } })],
    ['allOf', object({ a: { allOf: [text] } })],
    ['a list without items', object({ a: { type: 'array' } })],
    ['anything at all', object({ a: {} })],
    ['a boolean schema', object({ a: true })],
    ['references to nowhere', object({ a: { $ref: '#/$defs/A' } })],
    ['foreign references', object({ a: { $ref: 'https://example.test/schema' } })],
    ['too many levels', nested(9)],
    ['too many properties', object(Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`p${index}`, text])))],
    ['too many values', object({ a: { enum: Array.from({ length: 251 }, (_, index) => index) } })],
  ] as [string, JsonObject][])('%s', (_name, schema) => {
    expect(fitsStrict(schema)).toBe(false)
  })
})

describe("a mounted server's schema", () => {
  test('fault 23: stays as it is where a provider can take it, strict or not', () => {
    expect(mountedSchema({ $schema: 'http://json-schema.org/draft-07/schema#', ...object({ a: text }) })).toEqual({
      parameters: object({ a: text }),
      strict: true,
      replaced: null,
    })
    expect(mountedSchema({ type: 'object' })).toEqual({
      parameters: { type: 'object', properties: {} },
      strict: false,
      replaced: null,
    })
  })

  const anything = { type: 'object', properties: {}, additionalProperties: true }
  const deep = (depth: number): JsonObject => (depth === 0 ? {} : { type: 'object', properties: { a: deep(depth - 1) } })
  test.each([
    ['none', undefined, 'it is no object'],
    ['a boolean', true, 'it is no object'],
    ['a list', [], 'it is no object'],
    ['a string', { type: 'string' }, 'it does not describe an object'],
    ['a choice', { anyOf: [object({})] }, 'it does not describe an object'],
    ['too deep', deep(5_000), 'it is nested more than 32 levels deep'],
    ['too large', object({ a: { type: 'string', description: 'x'.repeat(70_000) } }), 'it has 70'],
    ['a foreign reference', object({ a: { $ref: 'https://example.test/schema' } }), 'it refers to another document'],
  ])('is replaced by one that takes anything: %s', (_name, schema, why) => {
    expect(mountedSchema(schema)).toEqual({ parameters: anything, strict: false, replaced: expect.stringContaining(why) })
  })
})
