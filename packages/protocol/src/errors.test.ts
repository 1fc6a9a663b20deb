import { expect, test } from 'vitest'
import { RpcError, ToolError, ToolErrorBody } from './index.ts'

test('a JSON-RPC error takes its number by name or as it is, and keeps its cause', () => {
  const cause = new Error('below')
  const named = new RpcError('overloaded', 'try later', { retry: 1 }, { cause })
  expect({ code: named.code, data: named.data, cause: named.cause }).toEqual({ code: -32970, data: { retry: 1 }, cause })
  expect(new RpcError(-32001, 'as it came').code).toBe(-32001)
})

test('a tool error becomes the body that callers read', () => {
  const error = new ToolError('invalid_argument', 'must not be empty', { field: 'name', hint: 'give it a name' })
  expect(ToolErrorBody.parse({ code: error.code, message: error.message, field: error.field, hint: error.hint })).toEqual({
    code: 'invalid_argument',
    message: 'must not be empty',
    field: 'name',
    hint: 'give it a name',
  })
})
