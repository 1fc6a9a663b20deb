import { expect, test } from 'vitest'
import { headerValue, mirroredHeaders, readMirroring } from './mirrored-headers.ts'

test.each([
  ['plain', 'plain'],
  ['us west 1', 'us west 1'],
  ['a\tb', 'a\tb'],
  ['', ''],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['Grüße', '=?base64?R3LDvMOfZQ==?='],
  ['line1\r\nline2', '=?base64?bGluZTENCmxpbmUy?='],
  ['=?base64?eA==?=', '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
])('%j goes as %j', (text, value) => {
  expect(headerValue(text)).toBe(value)
})

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    deep: { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } },
  },
}

test('repeats names and arguments, and leaves out what is null or not there', () => {
  const mirroring = readMirroring(schema)
  const mirrored = mirroring.kind === 'valid' ? mirroring.arguments : []
  expect(mirroredHeaders('tools/call', { name: 'é', arguments: { region: 'eu', deep: { n: 4 } } }, mirrored)).toEqual({
    'mcp-method': 'tools/call',
    'mcp-name': '=?base64?w6k=?=',
    'mcp-param-region': 'eu',
    'mcp-param-n': '4',
  })
  expect(mirroredHeaders('tools/call', { name: 't', arguments: { region: null } }, mirrored)).toEqual({
    'mcp-method': 'tools/call',
    'mcp-name': 't',
  })
  expect(mirroredHeaders('resources/read', { uri: 'a://b' }, [])).toEqual({ 'mcp-method': 'resources/read', 'mcp-name': 'a://b' })
})

test.each([
  ['an empty name', { properties: { a: { type: 'string', 'x-mcp-header': '' } } }],
  ['a name that is no token', { properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } }],
  ['a number', { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }],
  [
    'the same name twice',
    { properties: { a: { type: 'string', 'x-mcp-header': 'A' }, b: { type: 'string', 'x-mcp-header': 'a' } } },
  ],
  ['a place behind items', { properties: { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } } }],
  ['a place behind anyOf', { anyOf: [{ properties: { a: { type: 'string', 'x-mcp-header': 'A' } } }] }],
  ['a place in $defs', { $defs: { a: { type: 'string', 'x-mcp-header': 'A' } } }],
  ['the root', { type: 'string', 'x-mcp-header': 'A' }],
])('refuses %s', (_name, bad) => {
  expect(readMirroring(bad).kind).toBe('invalid')
})
