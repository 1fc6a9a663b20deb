import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isServerName, readConfig } from '@parley/codex/config'
import { expect, test } from 'vitest'
import { named } from './servers-file.ts'
import { tokenShelf } from './token-file.ts'

const TOKENS = {
  access_token: 'at',
  refresh_token: null,
  expires_at: null,
  scope: null,
  client_id: 'c',
  client_secret: null,
  token_endpoint: null,
  issuer: 'https://a.example',
  resource: 'https://a.example/mcp',
}

test('what is wrong with a file is said of the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'servers-file-'))
  const large = join(folder, 'large.toml')
  writeFileSync(large, '#'.repeat(9 * 1024 * 1024))
  for (const path of [large, folder])
    await expect(named(path, () => readConfig(path))).rejects.toMatchObject({
      code: 'config_unreadable',
      message: expect.stringContaining(`${path}: `),
    })
  rmSync(folder, { recursive: true })
})

test('tokens of sign-ins at the same time are all kept, for the user alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'token-shelf-'))
  const path = join(folder, 'mcp-tokens.json')
  writeFileSync(path, '{"servers":{}}', { mode: 0o644 })
  const names = ['a', 'b', 'c', 'constructor']
  await Promise.all(names.map((name) => tokenShelf(path).put(name, 'https://a.example/mcp', TOKENS)))
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')).servers).toSorted()).toEqual(names)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await tokenShelf(path).drop('toString')).toBe(false)
  expect(await tokenShelf(path).drop('a')).toBe(true)
  expect(await tokenShelf(path).has('a', 'https://a.example/mcp')).toBe(false)
  rmSync(folder, { recursive: true })
})

test('a name that no object can hold is none', () => {
  expect(['a.b', 'constructor', '__proto__'].filter(isServerName)).toEqual(['a.b', 'constructor'])
})
