import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCodexHome } from './codex-home.ts'

const OPTIONS = { model: 'm', contextTokens: null, baseUrl: 'http://127.0.0.1:1/v1', random: randomBytes }

test('whatever an attempt left in the place of the configuration, the next one begins with ours', () => {
  const above = mkdtempSync(join(tmpdir(), 'codex-home-'))
  const folder = join(above, 'codex')
  const config = join(folder, 'config.toml')
  const outside = join(above, 'outside')
  writeFileSync(outside, 'untouched')
  expect(openCodexHome({ ...OPTIONS, folder }).isNew).toBe(true)
  const ours = readFileSync(config, 'utf8')
  const leaves: readonly (() => void)[] = [
    () => writeFileSync(config, '[mcp_servers.evil]\ncommand = "sh"\n'),
    () => symlinkSync(outside, config),
    () => {
      mkdirSync(config)
      writeFileSync(join(config, 'file'), '')
    },
  ]
  for (const leave of leaves) {
    rmSync(config)
    leave()
    expect(openCodexHome({ ...OPTIONS, folder }).isNew).toBe(false)
    expect(readFileSync(config, 'utf8')).toBe(ours)
  }
  expect(readFileSync(outside, 'utf8')).toBe('untouched')
  rmSync(above, { recursive: true })
})
