import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadSettings } from '../config/load.ts'
import { runHere } from '../fixture/run-here.ts'
import { folderTrust } from './folder-trust.ts'

let base = ''
let project = ''
const trustFile = () => join(base, 'home/.local/share/parley/trusted.json')
const env = () => ({ HOME: join(base, 'home') })
const parley = (...args: readonly string[]) => runHere(args, { cwd: project, env: env() })
const load = (more: Record<string, string> = {}, cwd = project) => loadSettings({ env: { ...env(), ...more }, cwd })
const kind = () => folderTrust({ env: env(), cwd: project }).kind

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'parley-trust-'))
  project = join(base, 'project')
  mkdirSync(join(base, 'home'))
  mkdirSync(project, { mode: 0o755 })
  writeFileSync(join(project, 'parley.toml'), 'port = 7499\n', { mode: 0o644 })
})
afterEach(() => rmSync(base, { recursive: true }))

test('a folder is recorded by its real path in a file for its owner alone, listed, and taken back', async () => {
  symlinkSync(project, join(base, 'link'))
  const mask = process.umask(0)
  try {
    expect((await parley('trust', join(base, 'link'))).code).toBe(0)
  } finally {
    process.umask(mask)
  }
  expect(statSync(trustFile()).mode & 0o777).toBe(0o600)
  expect(statSync(join(trustFile(), '..')).mode & 0o777).toBe(0o700)
  const { folders } = JSON.parse((await parley('trust', '--list', '--json')).out)
  expect(folders).toEqual([{ path: project, trusted_at: expect.any(String), counts: true, state: 'counts' }])
  expect(load().settings?.port).toBe(7499)
  expect((await parley('trust', '--remove', join(base, 'link'))).code).toBe(0)
  expect(load().settings?.port).not.toBe(7499)
  expect(await parley('trust', '--remove', '.')).toMatchObject({ code: 1, err: expect.stringContaining('is not trusted') })
})

test('neither the folders above a trusted one nor those below are trusted with it', async () => {
  mkdirSync(join(project, 'below'))
  writeFileSync(join(project, 'below/parley.toml'), 'port = 7498\n')
  writeFileSync(join(base, 'parley.toml'), 'port = 7497\n')
  await parley('trust', '.')
  expect(load({}, join(project, 'below')).values.port?.source).toBe('default')
  expect(load({}, base).values.port?.source).toBe('default')
})

test('a folder that others can write to is refused, and does not count once they can', async () => {
  await parley('trust', '.')
  for (const mode of [0o775, 0o757]) {
    chmodSync(project, mode)
    expect(await parley('trust', '.')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`can be written by others (mode ${mode.toString(8)})`),
    })
    expect(kind()).toBe('lost')
    expect(load().values.port?.source).toBe('default')
  }
  expect(load().notices).toEqual([expect.objectContaining({ message: expect.stringContaining('can be written by others') })])
})

test('a file in it that others can write to, or that is a link, does not count', async () => {
  await parley('trust', '.')
  chmodSync(join(project, 'parley.toml'), 0o664)
  expect(load().values.port?.source).toBe('default')
  expect(load().notices).toEqual([expect.objectContaining({ message: expect.stringContaining('chmod go-w') })])
  renameSync(join(project, 'parley.toml'), join(base, 'elsewhere.toml'))
  chmodSync(join(base, 'elsewhere.toml'), 0o644)
  symlinkSync(join(base, 'elsewhere.toml'), join(project, 'parley.toml'))
  expect(load().values.port?.source).toBe('default')
})

test('a folder that took the place of a trusted one is not trusted', async () => {
  await parley('trust', '.')
  expect(kind()).toBe('trusted')
  renameSync(project, join(base, 'away'))
  mkdirSync(project, { mode: 0o755 })
  writeFileSync(join(project, 'parley.toml'), 'port = 7499\n')
  expect(kind()).toBe('lost')
  expect(load().notices).toEqual([expect.objectContaining({ message: expect.stringContaining('is another folder') })])
  rmSync(project, { recursive: true })
  symlinkSync(join(base, 'away'), project)
  expect(kind()).toBe('unknown')
  rmSync(project)
  renameSync(join(base, 'away'), project)
  expect(kind()).toBe('trusted')
})

test.runIf(process.getuid?.() === 0)("somebody else's folder is refused, whoever it becomes", async () => {
  chownSync(project, 54_321, 54_321)
  expect(await parley('trust', '.')).toMatchObject({ code: 1, err: expect.stringContaining('belongs to somebody else') })
})

test('a list that others could have written trusts nothing', async () => {
  await parley('trust', '.')
  chmodSync(trustFile(), 0o622)
  expect(kind()).toBe('lost')
  chmodSync(trustFile(), 0o600)
  writeFileSync(trustFile(), readFileSync(trustFile(), 'utf8').slice(1))
  expect(kind()).toBe('lost')
})

test('what is missing or too much is wrong usage', async () => {
  for (const args of [[], ['.', '--list'], [join(base, 'nothing')], ['parley.toml']])
    expect((await parley('trust', ...args)).code).toBe(2)
})

test('relative folders in the environment do not lead into the folder that a command is called in', () => {
  mkdirSync(join(project, 'config/parley'), { recursive: true })
  writeFileSync(join(project, 'config/parley/parley.toml'), 'port = 7496\n')
  expect(load({ XDG_CONFIG_HOME: 'config' }).values.port?.source).toBe('default')
})

test("a path in the person's own file begins at that file, a key goes where its address came from", () => {
  const own = join(base, 'home/.config/parley')
  mkdirSync(own, { recursive: true })
  writeFileSync(
    join(own, 'parley.toml'),
    'data_dir = "data"\ndatabase_url = "x.db"\n[model]\nbase_url = "http://127.0.0.1:9/v1"\n',
  )
  const { settings, notices } = load({ OPENAI_API_KEY: 'sk-1' })
  expect(settings).toMatchObject({
    dataDir: join(own, 'data'),
    databaseUrl: `sqlite:${join(own, 'x.db')}`,
    modelApiKey: undefined,
  })
  expect(notices.map(({ key }) => key)).toContain('model.api_key')
  expect(load({ OPENAI_API_KEY: 'sk-1', PARLEY_MODEL_BASE_URL: 'http://127.0.0.1:9/v1' }).settings?.modelApiKey).toBe('sk-1')
  expect(load({ PARLEY_MODEL_BASE_URL: 'http://127.0.0.1:8/v1' }).settings?.modelApiKey).toBe(undefined)
})

test("a trusted folder's channels may not name variables", async () => {
  writeFileSync(
    join(project, 'parley.toml'),
    '[[channels]]\nname = "a"\nbase_url = "http://127.0.0.1:9"\napi_key_env = "OPENAI_API_KEY"\n',
  )
  await parley('trust', '.')
  expect(load({ OPENAI_API_KEY: 'sk-1' }).problems).toContainEqual(
    expect.objectContaining({ key: 'channels[0].api_key_env', level: 'error' }),
  )
})
