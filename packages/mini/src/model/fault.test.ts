import { expect, test } from 'vitest'
import { faultOf } from './fault.ts'
import { MODEL_LIMITS } from './model-limits.ts'
import { readErrorBody, readErrorObject } from './provider-error.ts'
import { askedWaitMs } from './retry-after.ts'

/** What providers really say when a request does not fit. */
test.each([
  [400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."],
  [400, 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
  [400, 'prompt is too long: 210000 tokens > 200000 maximum'],
  [400, 'the request exceeds the available context size, try increasing it'],
  [400, 'Please reduce the length of the messages or completion.'],
  [400, 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'],
  [413, 'Input is too long for requested model.'],
  [500, 'context length exceeded'],
])('%i %s is an overflow', (status, message) => {
  expect(faultOf(readErrorBody(status, JSON.stringify({ error: { message } })), undefined, MODEL_LIMITS)).toMatchObject({
    code: 'context_overflow',
    retry: false,
  })
})

test.each([
  [429, 'Limit reached: reduce the length of your prompts', 'model_overloaded', true],
  [400, 'The context of your question is unclear', 'model_rejected', false],
  [500, 'Internal error in context', 'model_unavailable', true],
  [413, 'Request entity too large', 'model_rejected', false],
])('%i %s is none', (status, message, code, retry) => {
  expect(faultOf(readErrorBody(status, JSON.stringify({ error: { message } })), undefined, MODEL_LIMITS)).toMatchObject({
    code,
    retry,
  })
})

test.each([
  ['upstream_unauthorized', 424, 'model_unauthorized', false],
  ['upstream_forbidden', 403, 'model_forbidden', false],
  ['upstream_model_unknown', 404, 'model_not_found', false],
  ['upstream_quota', 402, 'model_quota', false],
  ['upstream_redirected', 424, 'model_misconfigured', false],
  ['upstream_bad_answer', 424, 'model_misconfigured', false],
  ['upstream_unreachable', 502, 'model_unreachable', true],
  ['upstream_cut', 502, 'model_unavailable', true],
  ['upstream_timeout', 504, 'model_timeout', true],
])("the gateway's %s is told in its own words, as %s", (code, status, failure, retry) => {
  const error = readErrorBody(status, JSON.stringify({ error: { message: 'do this', code } }))
  expect(faultOf(error, undefined, MODEL_LIMITS)).toMatchObject({ code: failure, message: 'do this', retry })
})

test.each([
  [404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.', 'model_not_found'],
  [404, null, 'Invalid URL (POST /responses)', 'model_misconfigured'],
  [404, null, '<html>Not Found</html>', 'model_misconfigured'],
  [301, null, 'Moved', 'model_misconfigured'],
  [503, 'slow_down', 'Slow down', 'model_overloaded'],
  [500, 'overloaded_error', 'Overloaded', 'model_overloaded'],
  [503, null, 'There is no available model provider', 'model_unavailable'],
])('%i %s (%s) is %s', (status, code, message, failure) => {
  expect(faultOf(readErrorBody(status, JSON.stringify({ error: { message, code } })), undefined, MODEL_LIMITS).code).toBe(failure)
})

test.each([
  ['{"error":{"message":"a","code":"c","type":"t","param":"p"}}', { message: 'a', code: 'c', type: 't', param: 'p' }],
  ['{"error":"a"}', { message: 'a', code: null }],
  ['{"message":"a","code":"c"}', { message: 'a', code: 'c' }],
  ['{"detail":"a"}', { message: 'a' }],
  ['{"detail":[{"loc":["body","tools",0],"msg":"a"}]}', { message: 'a', param: 'tools.0' }],
  ['[{"error":{"code":400,"message":"a","status":"INVALID_ARGUMENT"}}]', { message: 'a', code: null }],
  ['{"odd":1}', { message: '{"odd":1}' }],
  ['<html><h1>Bad\n gateway</h1></html>', { message: 'Bad gateway' }],
  ['', { message: 'nothing was said' }],
])('the words in %s are found', (text, expected) => {
  expect(readErrorBody(400, text)).toMatchObject({ status: 400, ...expected })
})

test.each([
  ['budget_exceeded', 'too little is left for this call: budget.tokens: 9 of 10 tokens of the job are used', 'budget_tokens'],
  ['budget_exceeded', 'too little is left for this call: budget.microusd: 9 of 10 micro-USD of the job are used', 'budget_money'],
  ['budget_exceeded', 'budget.requests: this attempt has made its 200 requests', 'budget_requests'],
  ['budget_exceeded', 'budget.wall_ms: the 1200000 ms of this attempt are over', 'budget_time'],
  ['budget_exceeded', 'too little is left: budgets.turn.tokens: 9 of 10 tokens of the turn are used', 'budget_tokens'],
  ['budget_exceeded', 'too little is left: budgets.day.microusd: 9 of 10 micro-USD of the agent’s day are used', 'budget_money'],
  [
    'budget_exceeded',
    'too little is left: budgets.all.tokens: 9 of 10 tokens of all that the agent may use are used',
    'budget_tokens',
  ],
  ['budget_exceeded', 'budgets.turn.requests: this turn has made its 3 requests', 'budget_requests'],
  ['budget_exceeded', 'budgets.turn.wall_ms: the 1000 ms of this turn are over', 'budget_time'],
  ['budget_exceeded', 'a job has at most 1000 calls', 'model_quota'],
  ['quota_exceeded', 'tokens_per_day: 9 of 10 tokens are used; resets_at 2026-11-17T00:00:00.000Z', 'model_quota'],
])("the gateway's %s: %s ends the turn as %s", (code, message, expected) => {
  const error = readErrorBody(429, JSON.stringify({ error: { code, message } }))
  expect(faultOf(error, 1_000, MODEL_LIMITS)).toMatchObject({ code: expected, retry: false })
})

test('an error inside a stream may name a status of its own', () => {
  expect(readErrorObject({ error: { code: 429, message: 'slow' } }, null).status).toBe(429)
  expect(readErrorObject({ type: 'error', status: 400, error: { message: 'no' } }, null).status).toBe(400)
  expect(readErrorObject({ error: { code: 'server_error', message: 'no' } }, null)).toMatchObject({
    status: null,
    code: 'server_error',
  })
})

test.each([
  [{}, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '-3' }, undefined],
  [{ 'retry-after': 'Mon, 16 Nov 2020 00:00:00 GMT' }, 0],
  [{ 'retry-after-ms': 'x', 'retry-after': '2' }, 2_000],
])('%j asks for %s', (headers, expected) => {
  expect(askedWaitMs(headers, Date.UTC(2026, 10, 16))).toBe(expected)
})
