import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ServerWorld } from './fixture/server-world.ts'

const KEY = 'sk-stored-by-the-person'
let world: ServerWorld
let data: string
beforeAll(async () => {
  world = await ServerWorld.open()
  data = join(world.workspace, '.parley')
  mkdirSync(data)
  writeFileSync(join(data, 'auth.json'), JSON.stringify({ OPENAI_API_KEY: KEY }))
  writeFileSync(join(data, 'config.toml'), 'model = "m"\n')
  mkdirSync(join(world.scratch.folder, '.config/parley'), { recursive: true })
  writeFileSync(join(world.scratch.folder, '.config/parley/token'), KEY)
})
afterAll(() => world[Symbol.asyncDispose]())

const PATCH = '*** Begin Patch\n*** Update File: .parley/config.toml\n@@\n-model = "m"\n+model = "evil"\n*** End Patch'
const CALLS: readonly (readonly [string, JsonObject])[] = [
  ['read_file', { path: '.parley/auth.json' }],
  ['apply_patch', { patch: PATCH }],
  ['search', { pattern: 'OPENAI_API_KEY' }],
  ['search', { pattern: 'OPENAI_API_KEY', path: '.parley' }],
  ['list_files', { path: '.parley' }],
  ['shell', { command: ['cat', '.parley/auth.json'] }],
  ['shell', { command: ['sh', '-c', 'cat "$(echo .par)ley/auth.json"; echo x >> .parley/config.toml'] }],
]

test.each(['workspace-write', 'danger-full-access'] as const)(
  'what Parley keeps in the working folder is out of reach of every tool, with %s',
  { timeout: 120_000 },
  async (sandbox) => {
    // Without a sandbox a command is the person's own, and nothing can hold it.
    const calls = CALLS.filter(([tool]) => sandbox === 'workspace-write' || tool !== 'shell')
    const from = world.model.requests.length
    world.say(
      ...calls.map(([call, args]) => ({ pieces: [{ call, arguments: args }] })),
      { pieces: [{ call: 'read_file', arguments: { path: join(world.scratch.folder, '.config/parley/token') } }] },
      { pieces: [{ text: 'done' }] },
    )
    const env = { ...world.ownEnv, PARLEY_DATA_DIR: data }
    await using client = world.start(['mcp-server', '--engine', 'mini'], env)
    await client.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    await client.ask('tools/call', { name: 'codex', arguments: { prompt: 'go', sandbox, 'approval-policy': 'never' } })
    const asked = world.model.requests.slice(from).map(({ body }) => JSON.stringify(body))
    expect(asked).toHaveLength(calls.length + 2)
    expect(asked.at(-1)).not.toContain(KEY)
    expect(asked.at(-1)).toContain('out of reach')
    expect(readFileSync(join(data, 'config.toml'), 'utf8')).toBe('model = "m"\n')
  },
)

test(
  'the settings file that was named, and the key that it names, are out of reach wherever they are',
  { timeout: 120_000 },
  async () => {
    const file = join(world.workspace, 'deep/settings.toml')
    const key = join(world.workspace, 'deep/tls.pem')
    mkdirSync(join(world.workspace, 'deep'))
    const text = `tls_key = "tls.pem"\ntls_cert = "cert.pem"\n[model]\nbase_url = ${JSON.stringify(world.model.url)}\napi_key = "${KEY}"\n`
    writeFileSync(file, text, { mode: 0o600 })
    writeFileSync(key, KEY, { mode: 0o600 })
    symlinkSync('deep/settings.toml', join(world.workspace, 'innocent'))
    const from = world.model.requests.length
    const script =
      'cat deep/settings.toml innocent deep/tls.pem; for f in deep/*; do echo x >> $f; done; mv deep away; rm -rf deep; mkdir -p deep; echo x > deep/settings.toml'
    const calls: readonly (readonly [string, JsonObject])[] = [
      ['read_file', { path: 'deep/settings.toml' }],
      ['read_file', { path: 'innocent' }],
      ['read_file', { path: 'deep/tls.pem' }],
      ['search', { pattern: 'api_key|sk-' }],
      ['apply_patch', { patch: '*** Begin Patch\n*** Delete File: deep/settings.toml\n*** End Patch' }],
      ['shell', { command: ['sh', '-c', script] }],
    ]
    world.say(...calls.map(([call, args]) => ({ pieces: [{ call, arguments: args }] })), { pieces: [{ text: 'done' }] })
    await using client = world.start(['mcp-server', '--engine', 'mini'], { PARLEY_DATA_DIR: data, PARLEY_CONFIG: file })
    await client.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    })
    const order = { prompt: 'go', sandbox: 'workspace-write', 'approval-policy': 'never' }
    await client.ask('tools/call', { name: 'codex', arguments: order })
    const asked = world.model.requests.slice(from).map(({ body }) => JSON.stringify(body))
    expect(asked).toHaveLength(calls.length + 1)
    expect(asked.at(-1)).not.toContain(KEY)
    expect(asked.at(-1)?.match(/out of reach/g)?.length).toBeGreaterThanOrEqual(4)
    expect(asked.at(-1)).toMatch(/Device or resource busy/)
    expect([readFileSync(file, 'utf8'), readFileSync(key, 'utf8')]).toEqual([text, KEY])
  },
)
