import { expect, test } from 'vitest'
import { chooseDialect, loadDialect } from './choose-dialect.ts'
import { versionOf } from './version-of.ts'

test.for([
  ['0.42.0', 'mcp'],
  ['0.43.0', 'v1'],
  ['codex-cli 0.44.0', 'v1'],
  ['0.107.9', 'v1'],
  ['0.108.0', 'v2'],
  ['0.153.4', 'v2'],
  ['0.166.0', 'v2'],
] as const)('%s speaks %s', ([version, name]) => {
  expect(chooseDialect(version)).toEqual({ tries: [name], warning: null })
})

test('one that is too old is refused with the range that is supported', () => {
  const refused = expect.objectContaining({ code: 'unsupported', message: expect.stringMatching(/0\.41\.0.*0\.42\.0 and newer/) })
  expect(() => chooseDialect('0.41.0')).toThrow(refused)
})

test('one that is newer than known is tried, and a warning says so', () => {
  expect(chooseDialect('0.200.0')).toEqual({ tries: ['v2'], warning: expect.stringContaining('0.200.0 is newer than 0.166.0') })
})

test('one that nobody knows is asked what it speaks', () => {
  expect(chooseDialect(undefined)).toEqual({ tries: ['v2', 'v1', 'mcp'], warning: null })
  expect(chooseDialect('nonsense')).toMatchObject({ tries: ['v2', 'v1', 'mcp'], warning: expect.stringContaining('nonsense') })
})

test('a version is read from what Codex calls itself', () => {
  expect(versionOf('probe/0.166.0 (Debian 12.0.0; x86_64) xterm (probe; 1.0)')).toBe('0.166.0')
  expect(versionOf('codex_cli_rs/0.44.0 (Debian)')).toBe('0.44.0')
  expect(versionOf('something else')).toBeUndefined()
})

test.for(['v2', 'v1', 'mcp'] as const)('%s can be loaded', async (name) => {
  expect(await loadDialect(name)).toMatchObject({ name })
})
