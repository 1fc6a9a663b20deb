import { openModelServer } from '@parley/agent/testing/model-server'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { peerFor } from '../../../../scripts/peers/peer-or-skip.ts'
import { MANY_PROCESSES, Scratch } from '../fixture/parley.ts'
import { runHere } from '../fixture/run-here.ts'

const chatConfig = (baseUrl: string): string => `model = "gpt-5-codex" # mine
model_provider = "mine"

[model_providers.mine]
name = "Mine"
base_url = "${baseUrl}"
wire_api = "chat"
env_key = "MINE_KEY"
request_max_retries = 0
stream_max_retries = 0
`

async function bench(baseUrl = 'http://127.0.0.1:9/v1') {
  const scratch = new Scratch()
  const before = chatConfig(baseUrl)
  const home = join(scratch.folder, 'codex')
  mkdirSync(home)
  const file = join(home, 'config.toml')
  writeFileSync(file, before)
  const env = { MINE_KEY: 'sk-value-never-shown' }
  const doctor = (...args: string[]) =>
    runHere(['doctor', '--codex-config', '--codex-home', home, ...args], { cwd: scratch.folder, env })
  return {
    before,
    home,
    file,
    doctor,
    text: () => readFileSync(file, 'utf8'),
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  }
}

test.for(['0.44.0', '0.166.0'])(
  'the fix is shown first, written only with --yes, read by the real %s, and taken back',
  MANY_PROCESSES,
  async (version, context) => {
    const peer = await peerFor(context, version === '0.44.0' ? 'codex-0.44' : 'codex-0.166')
    await using model = await openModelServer({ wire: 'responses', answers: [{ pieces: [{ text: 'over the Responses API' }] }] })
    await using b = await bench(model.url)
    const shown = await b.doctor('--codex-version', version)
    expect(shown).toMatchObject({ code: 1, out: expect.stringContaining('+wire_api = "responses"') })
    expect(shown.out).not.toContain('sk-value-never-shown')
    expect(b.text()).toBe(b.before)
    const { use, written } = JSON.parse((await b.doctor('--codex-version', version, '--yes', '--json')).out)
    expect(written).toBe(true)
    const [, ...profile] = use.split(' ')
    const env = { PATH: process.env['PATH'] ?? '', HOME: b.home, CODEX_HOME: b.home, MINE_KEY: 'k' }
    const line = [peer.bin('codex'), 'exec', '--skip-git-repo-check', ...profile, 'hi']
    const codex = spawn(process.execPath, line, { env, cwd: b.home, stdio: ['ignore', 'pipe', 'ignore'], timeout: 100_000 })
    expect(await text(codex.stdout)).toContain('over the Responses API')
    expect((await b.doctor('--undo')).code).toBe(0)
    expect(b.text()).toBe(b.before)
    expect(readdirSync(b.home).filter((name) => name.includes('parley'))).toEqual([])
  },
)

test('a file that was changed since is not put back', MANY_PROCESSES, async () => {
  await using b = await bench()
  await b.doctor('--codex-version', '0.166.0', '--yes')
  const mine = `${b.text()}# a later thought\n`
  writeFileSync(b.file, mine)
  expect(await b.doctor('--undo')).toMatchObject({ code: 1, err: expect.stringContaining('config.toml.parley-backup') })
  expect(b.text()).toBe(mine)
  expect(readFileSync(`${b.file}.parley-backup`, 'utf8')).toBe(b.before)
  expect(existsSync(b.file)).toBe(true)
})
