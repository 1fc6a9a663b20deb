import { expect, test } from 'vitest'
import { checkConfig, hasVersionedSettings } from './config-params.ts'
import { knownVersion } from '../version/version.ts'

const OLD = knownVersion('0.44.0')
const NEW = knownVersion('0.166.0')
const GIVEN = { model: 'gpt-5', profile: 'fast', model_providers: { mock: { name: 'mock', wire_api: 'chat' } } }

test('on the command line a setting that a version lacks is an error, with the version it needs and the one there is', () => {
  const { params, problems } = checkConfig(GIVEN, NEW, 'cli')
  expect(params).toEqual(GIVEN)
  expect(problems).toMatchObject([
    { severity: 'error', param: 'profile', currentVersion: '0.166.0', maxVersion: '0.146' },
    {
      severity: 'error',
      message: expect.stringContaining("wire_api' with the value 'chat' requires Codex <= 0.94 (current: 0.166.0)"),
    },
  ])
})

test('in configuration it is a warning, and it is left out, wherever it stands', () => {
  const { params, problems } = checkConfig({ ...GIVEN, 'model_providers.other.wire_api': 'chat' }, NEW, 'config')
  expect(params).toEqual({ model: 'gpt-5', model_providers: { mock: { name: 'mock' } } })
  expect(problems.map(({ severity, param }) => `${severity} ${param}`)).toEqual([
    'warning profile',
    'warning model_providers.mock.wire_api',
    'warning model_providers.other.wire_api',
  ])
  expect(problems[0]?.message).toBe("'profile' requires Codex <= 0.146 (current: 0.166.0) and is left out")
})

test('a version that reads it has nothing to say', () => {
  expect(checkConfig(GIVEN, OLD, 'config')).toEqual({ params: GIVEN, problems: [] })
  expect(hasVersionedSettings(GIVEN)).toBe(true)
  expect(hasVersionedSettings({ model: 'gpt-5', 'model_providers.x.wire_api': 'responses' })).toBe(false)
})
