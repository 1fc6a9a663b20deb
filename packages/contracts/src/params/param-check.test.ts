import { expect, test } from 'vitest'
import { checkParams, invalidParams } from './param-check.ts'
import { knownVersion } from '../version/version.ts'

const OLD = knownVersion('0.44.0')
const NEW = knownVersion('0.153.4')

test('an argument that a version lacks is an error on the command line, with the version it needs and the one there is', () => {
  const { params, problems } = checkParams('tool:codex', { prompt: 'x', 'compact-prompt': 'y' }, OLD, 'cli')
  expect(params).toEqual({ prompt: 'x', 'compact-prompt': 'y' })
  expect(problems).toEqual([
    {
      param: 'compact-prompt',
      currentVersion: '0.44.0',
      minVersion: '0.140.0',
      maxVersion: null,
      severity: 'error',
      evidence: 'observed',
      message: "'compact-prompt' requires Codex >= 0.140.0 (current: 0.44.0)",
    },
  ])
})

test('a parameter may be called as what every object has', () => {
  const given = { constructor: 1, toString: 2, model: 'gpt-5' }
  expect(checkParams('newConversation', given, OLD, 'wire')).toEqual({ params: given, problems: [] })
})

test('in configuration it is a warning, and it is left out', () => {
  const given = { prompt: 'x', 'developer-instructions': 'y', model: 'gpt-5' }
  const { params, problems } = checkParams('tool:codex', given, OLD, 'config')
  expect(params).toEqual({ prompt: 'x', model: 'gpt-5' })
  expect(problems).toMatchObject([{ severity: 'warning', param: 'developer-instructions' }])
  expect(problems[0]?.message).toBe("'developer-instructions' requires Codex >= 0.140.0 (current: 0.44.0) and is left out")
})

test('on the wire it is answered with -32602 and its data', () => {
  const { problems } = checkParams('tool:codex-reply', { threadId: 'x', prompt: 'y' }, OLD, 'wire')
  expect(invalidParams(problems)).toMatchObject({
    code: -32_602,
    message: "Invalid params: 'threadId' requires Codex >= 0.140.0 (current: 0.44.0)",
    data: { param: 'threadId', currentVersion: '0.44.0', minVersion: '0.140.0' },
  })
})

test('what was taken away says until when it was there', () => {
  const { problems } = checkParams('tool:codex', { profile: 'x', 'include-plan-tool': true }, NEW, 'cli')
  expect(problems.map(({ message }) => message)).toEqual([
    "'profile' requires Codex <= 0.45.0 (current: 0.153.4)",
    "'include-plan-tool' requires Codex <= 0.45.0 (current: 0.153.4)",
  ])
})

test('a value can be gone while its parameter stays', () => {
  expect(checkParams('tool:codex', { 'approval-policy': 'never' }, NEW, 'wire').problems).toEqual([])
  const { problems } = checkParams('tool:codex', { 'approval-policy': 'untrusted' }, NEW, 'wire')
  expect(problems).toMatchObject([{ param: 'approval-policy', severity: 'error', maxVersion: '0.140.0', minVersion: null }])
  expect(checkParams('tool:codex', { 'approval-policy': 'untrusted' }, OLD, 'wire').problems).toEqual([])
})

test('between what was measured nobody knows: a warning', () => {
  const { params, problems } = checkParams('tool:codex', { 'compact-prompt': 'x' }, knownVersion('0.80.0'), 'config')
  expect(params).toEqual({ 'compact-prompt': 'x' })
  expect(problems).toMatchObject([{ severity: 'warning', evidence: 'unmeasured' }])
  expect(invalidParams(problems)).toBeUndefined()
})

test('a gate that is only declared is a warning everywhere, and nothing is left out', () => {
  for (const layer of ['cli', 'config', 'wire'] as const) {
    const checked = checkParams('newConversation', { profile: 'fast', model: 'gpt-5' }, knownVersion('0.42.0'), layer)
    expect(checked.params).toEqual({ profile: 'fast', model: 'gpt-5' })
    expect(checked.problems).toMatchObject([
      { param: 'profile', severity: 'warning', evidence: 'declared', minVersion: '0.44.0', currentVersion: '0.42.0' },
    ])
  }
  expect(checkParams('newConversation', { profile: 'fast' }, OLD, 'wire').problems).toEqual([])
})

test('approvals of 0.42 have no camelCase, which 0.44 has', () => {
  const { problems } = checkParams('execCommandApproval', { callId: 'x' }, knownVersion('0.42.0'), 'wire')
  expect(problems).toMatchObject([{ param: 'callId', minVersion: '0.44.0', severity: 'error' }])
})

test('what no version knows, and methods that are not there, are none of its business', () => {
  expect(checkParams('newConversation', { colour: 'red' }, OLD, 'wire').problems).toEqual([])
  expect(checkParams('newConversation', { profile: 'x' }, NEW, 'wire').problems).toEqual([])
  expect(checkParams('noSuchMethod', { profile: 'x' }, OLD, 'wire').problems).toEqual([])
})
