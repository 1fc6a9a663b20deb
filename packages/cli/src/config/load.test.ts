import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadSettings } from './load.ts'
import { unreadSettings } from './settings-layers.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-config-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
function load(toml: string, env: Record<string, string> = {}, flags = {}) {
  const configFile = join(folder, `${(files += 1)}.toml`)
  writeFileSync(configFile, toml)
  return loadSettings({ env, cwd: folder, configFile, flags })
}

test('a flag wins over the environment, that over the file, that over the default', () => {
  const toml = 'port = 1001\nhost = "::1"\n[admin]\nusername = "root"\n'
  const { settings, values } = load(toml, { PARLEY_PORT: '1002', PARLEY_HOST: '' }, { port: '1003' })
  expect(settings).toMatchObject({
    port: 1003,
    host: '::1',
    adminUsername: 'root',
    dataDir: expect.stringMatching(/[\\/]\.parley$/),
    signup: false,
    queryToken: true,
    judgeLeaseMs: 30_000,
  })
  expect(values.port?.source).toBe('flag')
  expect(values.host?.source).toMatch(/^file /)
  expect(values.dataDir?.source).toBe('default')
})

test('the aliases of other products work, our own name wins', () => {
  const alias = 'j'.repeat(32)
  expect(load('', { REALMOI_JUDGE_MCP_TOKEN: alias, OPENAI_API_KEY: 'key' }).settings).toMatchObject({
    judgeToken: alias,
    modelApiKey: 'key',
  })
  expect(load('', { REALMOI_JUDGE_MCP_TOKEN: alias, PARLEY_JUDGE_TOKEN: 'k'.repeat(32) }).settings?.judgeToken).toBe(
    'k'.repeat(32),
  )
})

test('switches and lists are read from text as well', () => {
  const { settings } = load('signup = true\ntrusted_proxies = ["10.0.0.1"]', {
    PARLEY_QUERY_TOKEN: 'off',
    PARLEY_ALLOWED_HOSTS: 'a.example, b.example',
  })
  expect(settings).toMatchObject({
    signup: true,
    queryToken: false,
    trustedProxies: ['10.0.0.1'],
    allowedHosts: ['a.example', 'b.example'],
  })
})

test.each([
  ['', { PARLEY_PORT: 'x' }, 'PARLEY_PORT', 'must be a number'],
  ['port = 70000', {}, 'port', 'must be at most 65535'],
  ['prot = 1', {}, 'prot', 'did you mean port?'],
  ['[model]\nwire = "smoke"', {}, 'model.wire', 'must be responses or chat'],
  ['', { PARLEY_SECRET: 'short' }, 'PARLEY_SECRET', 'must have at least 32 bytes'],
  ['', { PARLEY_JUDGE_TOKEN: 'short' }, 'PARLEY_JUDGE_TOKEN', 'must have at least 32 characters'],
  ['judge_lease_ms = 999', {}, 'judge_lease_ms', 'must be 1000 or more'],
  ['', { PARLEY_GATE_WAIT_MS: '999' }, 'PARLEY_GATE_WAIT_MS', 'must be 1000 or more'],
  ['', { PARLEY_JUDGE_LEASE_MS: '600001' }, 'PARLEY_JUDGE_LEASE_MS', 'must be at most 600000'],
  ['', { PARLEY_DATABASE_URL: 'mysql://a/b' }, 'PARLEY_DATABASE_URL', 'must be a postgres:// URL'],
  ['', { PARLEY_PUBLIC_URL: 'ftp://a' }, 'PARLEY_PUBLIC_URL', 'must be an http:// or https:// URL'],
  ['', { PARLEY_SIGNUP: 'maybe' }, 'PARLEY_SIGNUP', 'must be on or off'],
  ['tls_cert = "x"', {}, 'tls_key', 'go together'],
  ['[jwks]\nurl = "https://id.example/keys"\naudience = "parley"', {}, 'jwks.issuer', 'is missing'],
])('%j with %j is an error at %s', (toml, env, key, message) => {
  const { settings, problems } = load(toml, env)
  expect(settings).toBe(undefined)
  expect(problems).toEqual([{ key, message: expect.stringContaining(message), level: 'error' }])
})

test('all problems are told at once; a stranger in the environment is only a warning', () => {
  const { problems } = load('prot = 1\nhots = 2', { PARLEY_PORT: '-1', PARLEY_POTR: '1' })
  expect(problems.map(({ key, level }) => [key, level])).toEqual([
    ['PARLEY_PORT', 'error'],
    ['prot', 'error'],
    ['hots', 'error'],
    ['PARLEY_POTR', 'warning'],
  ])
})

test('a file that is no TOML, or is not there, is an error that names it', () => {
  expect(load('port = ').problems).toMatchObject([
    { key: expect.stringContaining('.toml'), message: expect.stringContaining('cannot be read') },
  ])
  const missing = loadSettings({ env: {}, cwd: folder, configFile: 'nowhere.toml' })
  expect(missing.problems).toMatchObject([{ key: `--config ${join(folder, 'nowhere.toml')}`, level: 'error' }])
})

test('the data folder of the clone itself is not told of as a foreign one, also where another is meant', () => {
  const clone = mkdtempSync(join(folder, 'clone-'))
  const own = join(clone, '.parley')
  mkdirSync(own)
  const options = { env: {}, cwd: clone }
  const unread = (ownData: string) => unreadSettings(options, { kind: 'unknown' }, join(folder, 'elsewhere'), ownData)
  expect(unread(own)).toEqual([])
  expect(unread(join(folder, 'other'))).toMatchObject([{ key: `${own}:`, level: 'warning' }])
})
