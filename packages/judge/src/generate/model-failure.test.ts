import { expect, test } from 'vitest'
import { advised, turnError } from './model-failure.ts'

const failed = (message: string) => ({ kind: 'failed', code: 'model_rejected', message }) as const

test('what an engine hands on of the gateway’s own words is told in these words', () => {
  const body = JSON.stringify({ error: { message: 'set another key', type: 'x', code: 'upstream_unauthorized', param: null } })
  expect(turnError(failed(`unexpected status 424 Failed Dependency: ${body}, url: http://127.0.0.1/v1/responses`))).toEqual({
    code: 'model_unauthorized',
    message: 'set another key',
  })
  for (const message of ['{"error":{"message":"odd","code":"invalid_prompt"}}', 'no {"error" at all', '{"error":7}'])
    expect(turnError(failed(message))).toEqual({ code: 'model_rejected', message })
  expect(turnError({ kind: 'failed', code: 'internal', message: 'x' })).toEqual({ code: 'generate_failed', message: 'x' })
})

test('where waiting is all that can be done, the command for later is named', () => {
  const error = (code: string) => advised({ code, message: 'busy' }, 'job_1').message
  for (const code of ['model_overloaded', 'model_unavailable', 'model_timeout'])
    expect(error(code)).toBe('busy; try again later: parley job retry job_1')
  // Waiting mends no address.
  expect(error('model_unreachable')).toBe('busy; once that is mended: parley job retry job_1')
  for (const code of ['model_unauthorized', 'model_quota', 'model_refusal', 'budget_tokens']) expect(error(code)).toBe('busy')
})
