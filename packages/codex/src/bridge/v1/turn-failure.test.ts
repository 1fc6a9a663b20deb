import { expect, test } from 'vitest'
import { failureOf } from './turn-failure.ts'

test.for([
  ['exceeded retry limit, last status: 401 Unauthorized', 'model_unauthorized'],
  ['unexpected status 403 Forbidden: no', 'model_unauthorized'],
  ['Missing environment variable: `MOCK_KEY`.', 'model_unauthorized'],
  ['unexpected status 400 Bad Request: {"error":{"message":"This cannot be done."}}', 'model_rejected'],
  ['unexpected status 400 Bad Request: {"error":{"code":"context_length_exceeded"}}', 'context_overflow'],
  ['exceeded retry limit, last status: 429 Too Many Requests', 'model_quota'],
  ["You've hit your usage limit. Try again later.", 'model_quota'],
  ['exceeded retry limit, last status: 503 Service Unavailable', 'model_unavailable'],
  ['stream disconnected before completion: stream closed before response.completed', 'model_unavailable'],
  ['stream disconnected before completion: Your input exceeds the context window of this model.', 'context_overflow'],
  ['error sending request for url (http://127.0.0.1:1/v1/responses)', 'model_unavailable'],
  ['Fatal error: nobody knows', 'internal'],
] as const)('%s is %s', ([message, code]) => {
  expect(failureOf(message)).toBe(code)
})
