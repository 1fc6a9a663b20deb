import { expect, test } from 'vitest'
import { checkProvider } from './provider-check.ts'
import { diffText, planRepair } from './provider-repair.ts'
import { parseToml } from './toml-edit.ts'

const CHAT = `model = "gpt-5-codex"
model_provider = "mine"

[model_providers.mine]
name = "Mine"
base_url = "https://models.example/v1" # ours
wire_api = "chat"
env_key = "MINE_KEY"
`
const OLD = { major: 0, minor: 44 }
const NEW = { major: 0, minor: 166 }
const check = (text: string, version = NEW, isSet = true) =>
  checkProvider({ document: parseToml(text), isSet: () => isSet, version })
const keysOf = (text: string, version = NEW, isSet = true) =>
  check(text, version, isSet).findings.map(({ level, key }) => `${level} ${key}`)

test('a Codex that knows chat gets a provider and a profile of their own', () => {
  const { repair, findings } = check(CHAT, OLD)
  expect(findings.map(({ level, key }) => `${level} ${key}`)).toEqual(['error model_providers.mine.wire_api'])
  if (repair === undefined) throw new Error('no repair')
  const { edit, profile } = planRepair(repair, CHAT)
  expect(edit.after.startsWith(CHAT)).toBe(true)
  expect(parseToml(edit.after)).toMatchObject({
    model_providers: { mine: { wire_api: 'chat' }, 'parley-responses': { wire_api: 'responses', env_key: 'MINE_KEY' } },
    profiles: { [profile ?? '']: { model: 'gpt-5-codex', model_provider: 'parley-responses' } },
  })
  expect(check(`profile = "${profile}"\n${edit.after}`, OLD).findings).toEqual([])
})

test('a Codex that does not read chat any more gets the word changed in its place', () => {
  const { repair } = check(CHAT)
  if (repair === undefined) throw new Error('no repair')
  const { edit, profile } = planRepair(repair, CHAT)
  expect(profile).toBe(null)
  expect(edit.after).toBe(CHAT.replace('"chat"', '"responses"'))
  expect(diffText(edit)).toBe('--- config.toml\n+++ config.toml\n@@ -7,1 +7,1 @@\n-wire_api = "chat"\n+wire_api = "responses"\n')
  expect(check(edit.after).findings).toEqual([])
})

test('a provider that is not used but written with chat stops a new Codex as well', () => {
  const unused = CHAT.replace('model_provider = "mine"\n', '')
  expect(keysOf(unused)).toEqual(['error model_providers.mine.wire_api'])
  expect(check(unused).repair).toMatchObject({ kind: 'in-place', providers: ['mine'] })
  expect(keysOf(unused, OLD)).toEqual([])
})

test.for([
  ['a key that is not set', CHAT.replace('chat', 'responses'), 'error model_providers.mine.env_key', false],
  ['no address', CHAT.replace('chat', 'responses').replace(/base_url.*\n/, ''), 'error model_providers.mine.base_url', true],
  [
    'an address that is none',
    CHAT.replace('chat', 'responses').replace('https://', 'file://'),
    'error model_providers.mine.base_url',
    true,
  ],
  [
    'a method in the address',
    CHAT.replace('chat', 'responses').replace('/v1"', '/v1/responses"'),
    'warning model_providers.mine.base_url',
    true,
  ],
  ['an unknown wire', CHAT.replace('chat', 'carrier-pigeon'), 'error model_providers.mine.wire_api', true],
  ['a provider that is not there', 'model_provider = "nobody"\n', 'error model_provider', true],
  ['a table that is not looked at', '[model_providers.openai]\nbase_url = "https://x"\n', 'warning model_providers.openai', true],
  ['a profile that is not there', 'profile = "nobody"\n', 'error profile', true],
  ['a model that is a number', 'model = 5\n', 'error model', true],
] as const)('%s is found', ([, text, expected, isSet]) => {
  expect(keysOf(text, NEW, isSet)).toEqual([expected])
})

test('a line that names a profile stops a new Codex, whether there is such a profile or not', () => {
  const text = 'profile = "mine"\n\n[profiles.mine]\nmodel = "m"\n'
  expect(keysOf(text, OLD)).toEqual([])
  expect(check(text).findings).toEqual([
    {
      level: 'error',
      key: 'profile',
      message: 'names mine, and Codex does not start with such a line since 0.147',
      hint: 'take it out, put the settings into mine.config.toml, and name it: codex --profile mine',
    },
  ])
})

test('nothing is found where nothing is wrong', () => {
  expect(check('').findings).toEqual([])
  expect(check(CHAT.replace('chat', 'responses')).findings).toEqual([])
})
