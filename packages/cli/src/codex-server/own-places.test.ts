import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
