import { expect, test } from 'vitest'
import { splitResult } from './loose.ts'

test.each([
  ['{"result":{"a":[1,"}"]},"jsonrpc":"2.0","id":12}', 12, '{"a":[1,"}"]}'],
  ['{"jsonrpc":"2.0","id":3,"result":{"b":{"c":null}}}', 3, '{"b":{"c":null}}'],
])('takes apart %s', (message, id, text) => {
  expect(splitResult(message)).toEqual({ id, text, result: JSON.parse(text) })
})

test.each([
  '{"result":{},"id":1,"x":{},"jsonrpc":"2.0","id":7}',
  '{"jsonrpc":"2.0","id":1,"result":{},"id":2}',
  '{"jsonrpc":"2.0","id":1,"result":{}},{"a":{}}',
  '{"jsonrpc":"2.0","id":"1","result":{}}',
  '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}',
  '{"jsonrpc":"2.0","id":1,"method":"ping"}',
  '{"result":{"text":",\\"jsonrpc\\":\\"2.0\\",\\"id\\":5}","jsonrpc":"2.0"}',
  '{"result":[1],"jsonrpc":"2.0","id":7}',
  '{"result":{"a":1} ,"jsonrpc":"2.0","id":7',
  '{"result":{"a":1} ,"jsonrpc":"2.0","id":7}',
])('leaves %s to the full parser', (message) => {
  expect(splitResult(message)).toBeUndefined()
})
