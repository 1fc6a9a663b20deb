import { expect, test } from 'vitest'
import { turnFailureOf } from './turn-failure.ts'

test.for([
  ['contextWindowExceeded', 'context_overflow'],
  ['usageLimitExceeded', 'model_quota'],
  ['rateLimitExceeded', 'model_quota'],
  ['serverOverloaded', 'model_unavailable'],
  ['internalServerError', 'model_unavailable'],
  ['unauthorized', 'model_unauthorized'],
  ['badRequest', 'model_rejected'],
  ['modelNotFound', 'model_rejected'],
  ['cyberPolicy', 'model_refusal'],
  ['tooManyDenials', 'denied'],
  ['sandboxError', 'internal'],
  ['a word of a later version', 'internal'],
] as const)('%s is %s', ([info, code]) => {
  expect(turnFailureOf({ message: 'words', codexErrorInfo: info })).toEqual({ kind: 'failed', code, message: 'words' })
})

test.for([
  [401, 'model_unauthorized'],
  [403, 'model_unauthorized'],
  [402, 'model_quota'],
  [429, 'model_quota'],
  [404, 'model_rejected'],
  [408, 'model_unavailable'],
  [503, 'model_unavailable'],
  [null, 'model_unavailable'],
] as const)('an answer with status %s is %s', ([httpStatusCode, code]) => {
  for (const name of ['httpConnectionFailed', 'responseStreamDisconnected', 'responseTooManyFailedAttempts'])
    expect(turnFailureOf({ message: 'words', codexErrorInfo: { [name]: { httpStatusCode } } })).toMatchObject({ code })
})

test('where Codex has no word for it, the message tells', () => {
  const other = (message: string) => turnFailureOf({ message, codexErrorInfo: 'other' })
  expect(other('unexpected status 401 Unauthorized: no')).toMatchObject({ code: 'model_unauthorized' })
  expect(other('stream disconnected before completion: gone')).toMatchObject({ code: 'model_unavailable' })
  expect(other('{"error":{"message":"This cannot be done."}}')).toEqual({
    kind: 'failed',
    code: 'model_rejected',
    message: 'This cannot be done.',
  })
  expect(turnFailureOf({})).toEqual({ kind: 'failed', code: 'internal', message: 'Codex did not say what went wrong' })
})
