import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { codexModelAnswers } from '@parley/codex/testing'
import { codexBinary, startCodexPeer } from '@parley/contracts/testing'
import { type JsonObject, isJsonObject } from '@parley/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { peerFor } from '../../../../../scripts/peers/peer-or-skip.ts'
import { type OldClient, ServerWorld } from '../../codex-server/fixture/server-world.ts'
import { childrenOf } from '../../fixture/parley.ts'
import { gone } from '../../fixture/gone.ts'

let world: ServerWorld
beforeAll(async () => {
  world = await ServerWorld.open()
})
afterAll(() => world[Symbol.asyncDispose]())

const MINI = ['mcp-server', '--engine', 'mini']
const CODEX = ['mcp-server', '--engine', 'codex']
const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'test', version: '1' },
}
const say = (text: string) => ({ pieces: [{ text }] })
const initialize = (client: OldClient) => client.ask('initialize', INITIALIZE)
const codexCall = (client: OldClient, args: JsonObject, id: number) =>
  client.ask('tools/call', { name: 'codex', arguments: args }, id)
const resultOf = (message: JsonObject): JsonObject => (isJsonObject(message['result']) ? message['result'] : {})
const contentOf = (message: JsonObject) => {
  const { structuredContent } = resultOf(message)
  return isJsonObject(structuredContent) ? structuredContent : {}
}
const hasEvent = (type: string) => (message: JsonObject) =>
  message['method'] === 'codex/event' && JSON.stringify(message).includes(`"type":"${type}"`)

/** The program of the seed, with nothing changed but the command. */
async function runExample(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const text = readFileSync(join(import.meta.dirname, '../../codex-server/fixture/client-example.py'), 'utf8')
  const { command, env: plain } = world.scratch.launch(args)
  const swapped = text.replace('["codex", "mcp-server"]', JSON.stringify(command))
  expect(swapped).not.toBe(text)
  const file = join(world.home, 'client.py')
  writeFileSync(file, swapped)
  const more = { PYTHONIOENCODING: 'utf8', PYTHONDONTWRITEBYTECODE: '1' }
  const { stdout } = await promisify(execFile)('python3', [file], { cwd: world.workspace, env: { ...plain, ...env, ...more } })
  return stdout
}

test('the Python example works on our own engine', async () => {
  world.say(say('Hello yourself'))
  const out = await runExample(MINI, world.ownEnv)
  expect(out).toMatch(/'type': 'task_complete'|'type': 'turn_complete'/)
  expect(out.trim().split('\n').at(-1)).toMatch(/工具调用结果.*Hello yourself/)
})

test('the Python example works on Codex 0.166', async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  world.say(codexModelAnswers(peer.version, [{ say: 'Hello from afar' }]))
  const out = await runExample(CODEX, world.codexEnv(peer))
  expect(out.trim().split('\n').at(-1)).toMatch(/工具调用结果.*Hello from afar/)
})

/** A file of the bundle stands for the modules that are in it. */
function modulesIn(url: string): readonly string[] {
  const [, folder, file] = /^(.*\/packages\/cli\/dist\/[^/]+\/)(.+)$/.exec(url) ?? []
  if (folder === undefined || file === undefined) return [url]
  return JSON.parse(readFileSync(new URL('parts.json', folder), 'utf8'))[file]
}

test('a client gets its first answers before anything of an engine is loaded', async () => {
  const told = join(world.home, 'modules')
  const hook = join(import.meta.dirname, '../../codex-server/fixture/tell-modules.ts')
  const env = { ...world.ownEnv, NODE_OPTIONS: `--import=${hook}`, TOLD_MODULES: told }
  await using client = world.start(MINI, env)
  await initialize(client)
  expect(resultOf(await client.ask('tools/list'))).toHaveProperty('tools')
  const loaded = readFileSync(told, 'utf8').trim().split('\n').flatMap(modulesIn)
  const rooms = new Set(
    loaded.map((url) => /\bpackages\/([^/]+)\//.exec(url)?.[1] ?? (url.includes('node_modules') ? url : 'bin')),
  )
  expect([...rooms].toSorted()).toEqual([
    'bin',
    'cli',
    'codex',
    'codex-server',
    'command-line',
    'protocol',
    'rpc',
    'screen',
    'task',
  ])
  expect(loaded.length).toBeLessThan(100)
})

test('the official client talks, and goes on after a restart of the server', async () => {
  const { command, env } = world.scratch.launch(MINI)
  const connect = async () => {
    const client = new Client({ name: 'official', version: '1' })
    const args = command.slice(1)
    await client.connect(
      new StdioClientTransport({
        command: command[0],
        args,
        env: { ...env, ...world.ownEnv },
        cwd: world.workspace,
        stderr: 'pipe',
      }),
    )
    return client
  }
  const first = await connect()
  expect((await first.listTools()).tools.map(({ name }) => name)).toEqual(['codex', 'codex-reply'])
  world.say(say('one'))
  const { structuredContent } = await first.callTool({ name: 'codex', arguments: { prompt: 'hi' } })
  expect(structuredContent).toEqual({ threadId: expect.any(String), content: 'one' })
  await first.close()
  const second = await connect()
  world.say(say('two'))
  const threadId = isJsonObject(structuredContent) ? structuredContent['threadId'] : undefined
  const reply = await second.callTool({ name: 'codex-reply', arguments: { threadId, prompt: 'again' } })
  expect(reply.structuredContent).toEqual({ threadId, content: 'two' })
  expect(JSON.stringify(world.model.requests.at(-1)?.body)).toContain('one')
  await second.close()
})

test('a real Codex that was told of it by `codex mcp add` is a client of it', async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  const { command, env } = world.scratch.launch(MINI)
  const variables = Object.entries({ ...env, ...world.ownEnv }).flatMap(([name, value]) => ['--env', `${name}=${value}`])
  const { command: codexProgram, args } = codexBinary(peer)
  const codexEnv = world.codexEnv(peer)
  const home = codexEnv['CODEX_HOME'] ?? ''
  const line = [...args, 'mcp', 'add', 'p', ...variables, '--', ...command]
  const { stdout } = await promisify(execFile)(codexProgram, line, { env: codexEnv })
  expect(stdout).toBe("Added global MCP server 'p'.\n")
  await using start = startCodexPeer(peer, {
    home: { path: home },
    cwd: world.workspace,
    env: { TMPDIR: join(world.home, 'tmp') },
  })
  const codex = await start(['app-server'])
  const answers = new Map<number, (message: JsonObject) => void>()
  let rest = ''
  codex.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const message: JsonObject = JSON.parse(line)
      const { id, method } = message
      if (method === 'mcpServer/elicitation/request')
        codex.stdin.write(`${JSON.stringify({ id, result: { action: 'accept', content: {}, _meta: null } })}\n`)
      else if (typeof id === 'number' && method === undefined) answers.get(id)?.(message)
    }
  })
  const ask = (id: number, method: string, params: JsonObject) =>
    new Promise<JsonObject>((resolve) => {
      answers.set(id, resolve)
      codex.stdin.write(`${JSON.stringify({ id, method, params })}\n`)
    })
  await ask(1, 'initialize', { clientInfo: { name: 'test', title: 'Test', version: '1' } })
  codex.stdin.write('{"method":"initialized"}\n')
  const started = resultOf(
    await ask(2, 'thread/start', { cwd: world.workspace, approvalPolicy: 'never', sandbox: 'danger-full-access' }),
  )
  const threadId = isJsonObject(started['thread']) ? started['thread']['id'] : null
  world.say(say('through Codex'))
  const called = await ask(3, 'mcpServer/tool/call', { threadId, server: 'p', tool: 'codex', arguments: { prompt: 'hi' } })
  expect(called).toMatchObject({ result: { structuredContent: { content: 'through Codex', threadId: expect.any(String) } } })
  await codex.stop(2_000)
})

test('the end of the input ends a turn and all that runs, at once, and stdout has the protocol alone', async () => {
  await using client = world.start(MINI, { ...world.ownEnv, RUST_LOG: 'debug' })
  await initialize(client)
  world.say({ silent: true })
  const asked = world.model.requests.length
  const answered = codexCall(client, { prompt: 'wait' }, 7)
  answered.catch(() => undefined)
  await world.model.arrived(asked + 1)
  client.end()
  expect(await client.exited).toEqual({ code: 0, signal: null })
  expect(client.err()).toMatch(/INFO parley_codex: engine mini: --engine mini/)
})

test('commands of our own engine run in the sandbox, or freely where that is allowed', async () => {
  await using client = world.start(MINI, world.ownEnv)
  await initialize(client)
  const touch = (name: string) => ({
    pieces: [
      {
        call: 'shell',
        arguments: {
          command: ['sh', '-c', `id -u > ${name}; touch ${world.home}/outside-${name}`],
          workdir: null,
          timeout_ms: null,
        },
      },
    ],
  })
  world.say(touch('boxed'), say('ok'), touch('free'), say('ok'))
  for (const [index, sandbox] of ['workspace-write', 'danger-full-access'].entries())
    expect(contentOf(await codexCall(client, { prompt: 'go', sandbox, 'approval-policy': 'never' }, 10 + index))).toMatchObject({
      content: 'ok',
    })
  const made = ['boxed', 'outside-boxed', 'free', 'outside-free'].filter(
    (name) => existsSync(join(world.workspace, name)) || existsSync(join(world.home, name)),
  )
  // Where no sandbox holds, the first is refused.
  expect([
    ['boxed', 'free', 'outside-free'],
    ['free', 'outside-free'],
  ]).toContainEqual(made)
})

test('a Codex that is killed in a turn is answered for, the next call works, and none outlives a killed server', async (context) => {
  const peer = await peerFor(context, 'codex-0.166')
  await using client = world.start(CODEX, { ...world.codexEnv(peer), RUST_LOG: 'info' })
  await initialize(client)
  world.say({ silent: true })
  const asked = world.model.requests.length
  const lost = codexCall(client, { prompt: 'wait' }, 20)
  await world.model.arrived(asked + 1)
  const spawned = () => childrenOf(client.pid).flatMap((spawner) => childrenOf(spawner))
  // Beside it the spawner has what ends its children when it is killed.
  const pid = spawned().find((one) => readFileSync(`/proc/${one}/cmdline`, 'utf8').includes('codex'))
  if (pid === undefined) throw new TypeError('no Codex runs')
  process.kill(pid, 'SIGKILL')
  expect(resultOf(await lost)).toMatchObject({ isError: true })
  world.say(codexModelAnswers(peer.version, [{ say: 'back again' }]))
  // What a client sends that this version does not read is left out, and told.
  const config = { model_providers: { mock: { wire_api: 'chat' } } }
  expect(contentOf(await codexCall(client, { prompt: 'hi', config }, 21))).toMatchObject({ content: 'back again' })
  expect(client.err()).toMatch(/config: 'model_providers\.mock\.wire_api' with the value 'chat' .* is left out/)
  expect(client.err()).toMatch(/INFO parley_codex: engine codex: .*codex is on PATH\n.*codex 0\.166\.0 at /)
  // What Codex logs itself comes line by line among ours.
  expect(client.err()).toMatch(/^\S+ {2}INFO codex: \S+ +INFO .*codex_app_server/m)
  for (const line of client.err().trimEnd().split('\n')) expect(line).toMatch(/^\S+Z +[A-Z]+ (?:parley_codex|codex): /)
  const left = [...childrenOf(client.pid), ...spawned()]
  expect(left.length).toBeGreaterThan(1)
  client.kill()
  await client.exited
  await Promise.all(left.map((one) => gone(one)))
})

test('events come under the request that caused them', async () => {
  await using client = world.start([...MINI, '--dialect', '0.44', '-c', 'model="from-line"'], {
    ...world.ownEnv,
    PARLEY_LOG: 'silent',
  })
  await initialize(client)
  world.say(say('one'))
  await codexCall(client, { prompt: 'hi' }, 30)
  expect(await client.seen(hasEvent('session_configured'))).toMatchObject({
    params: { _meta: { requestId: 30 }, msg: { model: 'from-line' } },
  })
  expect(client.err()).toBe('')
})

test.each<[readonly string[], RegExp]>([
  [['--port', '1'], /parley proxy --port 7401 -- parley mcp-server/],
  [['--host', 'x'], /stdin and stdout/],
  [['-c', 'nothing'], /KEY=VALUE/],
  [['--dialect', '0.1'], /0\.44/],
  [['--engine', 'mini', '--codex', 'x'], /exclude/],
])('a line that cannot be is a usage error: %j', async (args, message) => {
  const { code, out, err } = await world.scratch.run(['mcp-server', ...args])
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(message)
})

test('a setting that this Codex lacks is refused on the command line', async (context) => {
  const env = world.codexEnv(await peerFor(context, 'codex-0.166'))
  const refused = await world.scratch.run([...CODEX, '-c', 'profile="fast"'], { env })
  expect(refused).toMatchObject({ code: 2, out: '', err: /-c: 'profile' requires Codex <= 0\.146 \(current: 0\.166\.0\)/ })
})

test('without a codex it says which engine and why, and one that is asked for must be there', async () => {
  const alone = { PATH: join(world.home, 'nowhere') }
  expect((await world.scratch.run(['mcp-server'], { env: alone })).err).toContain('engine mini: there is no codex on PATH')
  expect(await world.scratch.run(['mcp-server', '--engine', 'codex'], { env: alone })).toMatchObject({
    code: 1,
    err: /no codex on PATH/,
  })
  const missing = await world.scratch.run(['mcp-server'], { env: { ...alone, PARLEY_CODEX: './nope' } })
  expect(missing).toMatchObject({ code: 1, err: /PARLEY_CODEX: \.\/nope is no program/ })
})

test('a codex that starts parley again is found out instead of started without end', async () => {
  const { command } = world.scratch.launch([])
  const codex = join(world.home, 'codex-wrapper')
  writeFileSync(codex, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`, { mode: 0o755 })
  await using client = world.start(['mcp-server'], { ...world.ownEnv, PARLEY_CODEX: codex, PARLEY_CODEX_DEPTH: '1' })
  await initialize(client)
  const failed = resultOf(await codexCall(client, { prompt: 'hi' }, 40))
  expect(failed).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('was started by itself') }] })
})
