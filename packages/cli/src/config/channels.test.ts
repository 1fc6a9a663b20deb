import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Scratch } from '../fixture/parley.ts'
import { channelSeedsOf, quotaOf } from './gateway-models.ts'
import { loadSettings } from './load.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-channels-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
function load(toml: string, env: Record<string, string> = {}) {
  const configFile = join(folder, `${(files += 1)}.toml`)
  writeFileSync(configFile, toml)
  return loadSettings({ env, cwd: folder, configFile })
}
function seeds(toml: string, env: Record<string, string> = {}) {
  const { settings, problems } = load(toml, env)
  if (settings === undefined) throw new Error(JSON.stringify(problems))
  return channelSeedsOf(settings)
}

const TWO = `
[[channels]]
name = "house"
display_name = "In the house"
base_url = "http://10.0.0.7:8000/v1/"
api_key_env = "HOUSE_KEY"
wire = "chat"
models_path = "/all-models"

[[channels.models]]
model = "big"
display_name = "The big one"
context_tokens = 64000
input_microusd_per_1m_tokens = 1250000
output_microusd_per_1m_tokens = 10000000

[[channels.models]]
model = "small"

[[channels]]
name = "play"
script = "knapsack"
enabled = false
`

test('channels of the file, with a key from a variable', () => {
  expect(seeds(TWO, { HOUSE_KEY: 'sk-house' })).toEqual([
    {
      name: 'house',
      displayName: 'In the house',
      kind: 'openai',
      baseUrl: 'http://10.0.0.7:8000/v1',
      apiKey: 'sk-house',
      wire: 'chat',
      modelsPath: '/all-models',
      enabled: true,
      models: [
        {
          model: 'big',
          displayName: 'The big one',
          contextTokens: 64_000,
          prices: { input_microusd_per_1m_tokens: 1_250_000, output_microusd_per_1m_tokens: 10_000_000 },
        },
        { model: 'small', prices: {} },
      ],
      places: { key: 'HOUSE_KEY', baseUrl: 'base_url of the [[channels]] house in parley.toml' },
    },
    {
      name: 'play',
      kind: 'script',
      wire: 'responses',
      script: 'knapsack',
      enabled: false,
      models: [],
      places: {
        key: 'api_key of the [[channels]] play in parley.toml',
        baseUrl: 'base_url of the [[channels]] play in parley.toml',
      },
    },
  ])
})

/** What a person must change who is told that the channel does not work. */
const PLACES = {
  key: 'PARLEY_MODEL_API_KEY or OPENAI_API_KEY (model.api_key in parley.toml)',
  baseUrl: 'PARLEY_MODEL_BASE_URL (model.base_url in parley.toml)',
}

test('a URL or a key by itself makes the channel `default`; neither makes none', () => {
  expect(seeds('')).toEqual([])
  expect(seeds('', { OPENAI_API_KEY: 'sk-1', PARLEY_MODELS: 'a, b' })).toEqual([
    {
      name: 'default',
      kind: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      apiKey: 'sk-1',
      wire: 'responses',
      enabled: true,
      models: [{ model: 'a' }, { model: 'b' }],
      places: PLACES,
    },
  ])
  expect(seeds('[model]\nbase_url = "http://127.0.0.1:1/v1"\nwire = "chat"')).toEqual([
    {
      name: 'default',
      kind: 'openai',
      baseUrl: 'http://127.0.0.1:1/v1',
      wire: 'chat',
      enabled: true,
      models: [],
      places: PLACES,
    },
  ])
})

test('quotas come from the file or the environment', () => {
  const { settings } = load('[quota]\njobs_at_once = 2\ntokens_per_day = 5', { PARLEY_QUOTA_TOKENS_PER_DAY: '1000000' })
  expect(settings === undefined ? undefined : quotaOf(settings)).toEqual({ jobsAtOnce: 2, tokensPerDay: 1_000_000 })
})

const channel = (lines: string): string => `[[channels]]\nname = "c"\n${lines}`
test.each([
  ['[channels]\nname = "c"', {}, 'channels.name', 'is no setting'],
  [channel(''), {}, 'channels[0].base_url', 'is missing'],
  [channel('base_url = "ftp://x"'), {}, 'channels[0].base_url', 'http:// or https://'],
  [channel('base_url = "http://x"\napi_key_env = "NOT_THERE"'), {}, 'channels[0].api_key_env', 'NOT_THERE, which is not set'],
  [channel('base_url = "http://x"\napi_key = "a"\napi_key_env = "B"'), { B: 'b' }, 'channels[0].api_key_env', 'exclude'],
  [channel('base_url = "http://x"\nwires = "chat"'), {}, 'channels[0].wires', 'is no setting'],
  [channel('kind = "script"'), {}, 'channels[0].script', 'is missing'],
  [channel('kind = "script"\nscript = "../x"'), {}, 'channels[0].script', 'must be the name of a script'],
  [channel('base_url = "http://x"\nscript = "x"\nkind = "openai"'), {}, 'channels[0].script', 'for channels of kind script'],
  ['[[channels]]\nname = "A b"\nscript = "x"', {}, 'channels[0].name', 'small letters'],
  [`${channel('script = "x"')}\n${channel('script = "y"')}`, {}, 'channels[1].name', 'is there already'],
  ['[[channels]]\nname = "default"\nscript = "x"', { OPENAI_API_KEY: 'k' }, 'channels[0].name', 'choose another'],
  [channel('script = "x"\n[[channels.models]]\nmodel = ""'), {}, 'channels[0].models[0].model', ''],
  [
    channel('script = "x"\n[[channels.models]]\nmodel = "m"\ninput_microusd_per_1m_tokens = -1'),
    {},
    'channels[0].models[0].input_microusd_per_1m_tokens',
    'must not be negative',
  ],
  [
    channel('script = "x"\n[[channels.models]]\nmodel = "m"\n[[channels.models]]\nmodel = "m"'),
    {},
    'channels[0].models',
    'twice',
  ],
  ['[quota]\njobs_at_once = -1', {}, 'quota.jobs_at_once', 'must be 0 or more'],
  ['', { PARLEY_QUOTA_MICROUSD_PER_DAY: 'much' }, 'PARLEY_QUOTA_MICROUSD_PER_DAY', 'must be a number'],
])('%j is an error that names its key', (toml, env, key, message) => {
  const { settings, problems } = load(toml, env)
  expect(settings).toBe(undefined)
  expect(problems).toEqual([{ key, message: expect.stringContaining(message), level: 'error' }])
})

test('names of models without a way to them are only a warning', () => {
  expect(load('', { PARLEY_MODELS: 'a' })).toMatchObject({ problems: [{ key: 'model.names', level: 'warning' }] })
})

test('config check shows channels without their keys', async () => {
  await using scratch = new Scratch()
  scratch.settings(channel('base_url = "http://x"\napi_key = "sk-secret"'))
  for (const more of [[], ['--json']]) {
    const { code, out } = await scratch.run(['config', 'check', ...more], { env: { OPENAI_API_KEY: 'sk-secret' } })
    expect(code).toBe(0)
    expect(out).not.toContain('sk-secret')
    expect(out).toContain('"api_key":"***"')
  }
})
