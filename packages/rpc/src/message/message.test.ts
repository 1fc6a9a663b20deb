import { expect, test } from 'vitest'
import { parseJson } from '@parley/protocol'
import { nestsWithin } from '@parley/protocol/wire'
import { classify, decodeUtf8 } from './message.ts'

const kindOf = (text: string) => {
  const value = parseJson(text)
  return value === undefined ? 'unparsable' : classify(value, 8).kind
}

test.each([
  ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'request'],
  ['{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}', 'request'],
  ['{"jsonrpc":"2.0","method":"ping"}', 'notification'],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', 'response'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}', 'response'],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 'invalid'],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 'invalid'],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"method":7}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1,"result":"text"}', 'invalid'],
  ['{"jsonrpc":"2.0","id":1}', 'invalid'],
  ['7', 'invalid'],
  ['null', 'invalid'],
  ['{"jsonrpc"', 'unparsable'],
])('%s is %s', (text, kind) => {
  expect(kindOf(text)).toBe(kind)
})

test('an invalid message keeps the id that could be read, so that its sender learns which one it was', () => {
  expect(classify({ jsonrpc: '2.0', id: 7, method: 'x', params: [] }, 8)).toMatchObject({ kind: 'invalid', id: 7, code: -32602 })
  expect(classify({ jsonrpc: '2.0', id: 'x'.repeat(2000), method: 'x' }, 8)).toMatchObject({
    kind: 'invalid',
    id: null,
    code: -32600,
  })
})

test('the id of a broken answer is not repeated: it would look like our answer to a request of theirs', () => {
  expect(classify({ jsonrpc: '2.0', id: 7, result: null }, 8)).toMatchObject({ kind: 'invalid', id: null, answers: 7 })
  expect(classify({ jsonrpc: '1.0', id: 7, result: {} }, 8)).toMatchObject({ kind: 'invalid', id: null })
  expect(classify({ jsonrpc: '2.0', id: 7, error: {} }, 8)).toMatchObject({ kind: 'invalid', id: null })
})

test('nesting is measured, also a hundred thousand levels of it', () => {
  expect(nestsWithin({ a: [{ b: 1 }] }, 3)).toBe(true)
  expect(nestsWithin({ a: [{ b: 1 }] }, 2)).toBe(false)
  const deep = parseJson(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`)
  expect(deep === undefined ? 'unparsable' : classify(deep, 64)).toMatchObject({ kind: 'invalid', id: 1 })
})

test('bytes that are not UTF-8 are not repaired', () => {
  expect(decodeUtf8(Buffer.from('ok'))).toBe('ok')
  expect(decodeUtf8(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toBeUndefined()
})
