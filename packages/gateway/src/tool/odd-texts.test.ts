import { TOOLS, type ToolName, isJsonObject } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { CLAIM_STAYS, callersOf, placesIn, sensibleArguments, withValue } from '../fixture/every-tool.ts'
import { type TestGateway, callTool, openTestGateway, postJson } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

/** PostgreSQL keeps no NUL, and halves of a surrogate pair are the same to a database however they differ. */
const ODD_TEXTS = ['a\u0000b', '\u0000', 'a\ud800', '\udc00b']
const TEXTS: ReadonlySet<unknown> = new Set(['string'])

/** Whole documents of a judge are kept as they are: a program that is judged may have printed anything. So are lines of a log, and what people and agents say to each other. */
const KEPT: readonly (readonly [name: ToolName, path: string])[] = [
  ['judge.job.put_artifacts', 'main_cpp'],
  ['judge.job.put_artifacts', 'files.x'],
  ['judge.job.put_artifacts', 'solution_json.x'],
  ['judge.job.put_artifacts', 'report_json.stderr'],
  ['judge.job.patch_state', 'patch.error.message'],
  ['host.append_calls', 'lines.0'],
  ['host.append_transcript', 'lines.0'],
  ['host.end_prompt', 'outcome.code'],
  ['host.end_prompt', 'outcome.message'],
  ['agent.prompt', 'text'],
  ['agent.run', 'text'],
  ['chat.post', 'text'],
  ['host.chat_post', 'text'],
  ['host.call_end', 'end.result'],
  ['host.call_end', 'end.message'],
  ['host.yield', 'say'],
]
const isKept = (name: ToolName, path: string) => KEPT.some((kept) => kept[0] === name && kept[1] === path)

const FIELDS: readonly (readonly [name: ToolName, path: string])[] = [
  ...Object.values(TOOLS).flatMap(({ name, input }) =>
    placesIn(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }), TEXTS)
      .filter((path) => !isKept(name, path))
      .map((path) => [name, path] as const),
  ),
  // In documents whose schema says nothing of them.
  ['judge.usage.ingest', 'usage.model'],
  ['judge.usage.ingest', 'usage.codex_thread_id'],
  ['judge.usage.ingest', 'usage.x.y'],
  ['judge.job.patch_state', 'patch.containers'],
  ['judge.job.patch_state', 'patch.status'],
]

describe.each(ENGINES)('texts of arguments on %s', (engine) => {
  let host: TestEngine
  let gw: TestGateway
  let judge: string
  let callers: Awaited<ReturnType<typeof callersOf>>
  beforeAll(async () => {
    host = await startEngine(engine)
    gw = await openTestGateway({ signup: true, limits: CLAIM_STAYS }, await host.migratedUrl())
    callers = await callersOf(gw)
    judge = callers.judge
  })
  afterAll(async () => {
    await callers[Symbol.asyncDispose]()
    await gw[Symbol.asyncDispose]()
    await host.stop()
  })
  const ourFaults = () => gw.logged.filter((line) => line.includes('"level":50') || line.includes('"stack"'))

  test('no tool takes one that cannot be kept, and each says at which field', { timeout: 300_000 }, async () => {
    const otherwise = await sensibleArguments(gw, judge)
    expect(FIELDS).toContainEqual(['user.set_identity', 'identity.subject'])
    const faults: unknown[] = []
    for (const [name, path] of FIELDS) {
      const args = otherwise[name]
      if (args === undefined) throw new Error(`${name} has a text (${path}): say in fixture/every-tool.ts how it is called`)
      for (const value of ODD_TEXTS) {
        const reply = await callers.call(name, withValue(args, path, value))
        const error = reply._meta?.['parley/error']
        const isNamed = isJsonObject(error) && error['code'] === 'invalid_argument' && error['field'] === path
        if (!isNamed) faults.push([name, path, JSON.stringify(value), error ?? 'taken'])
      }
    }
    for (const odd of ODD_TEXTS) {
      const args = { ...otherwise['judge.job.put_artifacts'], files: { [odd]: 'x' } }
      const reply = await callTool(gw.gateway.url, judge, 'judge.job.put_artifacts', args)
      expect(reply._meta?.['parley/error']).toMatchObject({ code: 'invalid_argument' })
    }
    for (const [name, path] of KEPT) {
      for (const value of ODD_TEXTS) {
        const args = withValue(otherwise[name] ?? {}, path, value)
        const whole = path.startsWith('report_json') ? withValue(args, 'report_json.status', 'failed') : args
        const error = (await callers.call(name, whole))._meta?.['parley/error']
        const isInternal = isJsonObject(error) && error['code'] === 'internal'
        if (isInternal) faults.push([name, path, JSON.stringify(value), error])
      }
    }
    expect(faults).toEqual([])
    expect(ourFaults()).toEqual([])
  })

  test('neither does any other door', async () => {
    const { url, ws } = gw.gateway
    const session = await TestSocket.open(ws, gw.adminToken)
    const clientInfo = { name: 'test\u0000\ud800', version: '1' }
    await session.call('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    const password = 'long enough for anybody'
    for (const odd of ODD_TEXTS) {
      const signIns: readonly (readonly [path: string, body: object, field: string])[] = [
        ['login', { username: odd, password }, 'username'],
        ['login', { username: 'admin', password: odd }, 'password'],
        ['signup', { username: odd, password }, 'username'],
        ['signup', { username: 'eve', password: password + odd }, 'password'],
        ['link', { token: odd }, 'token'],
        ['link/check', { token: odd }, 'token'],
      ]
      for (const [path, body, field] of signIns) {
        const response = await postJson(`${url}/api/auth/${path}`, body)
        expect([response.status, await response.json()]).toMatchObject([422, { error: { code: 'invalid_argument', field } }])
      }
      for (const uri of [odd, `resource://jobs/${odd}/state`, `resource://users/list${odd}`]) {
        for (const method of ['resources/read', 'resources/subscribe'])
          expect(await session.call(method, { uri })).toMatchObject({ error: {} })
      }
      expect(await session.call('tools/call', { name: odd, arguments: {} })).toMatchObject({ error: { code: -32602 } })
      expect(await session.call(odd, {})).toMatchObject({ error: { code: -32601 } })
      expect(await session.call('tools/list', { cursor: odd })).toMatchObject({ error: { code: -32602 } })
    }
    session.socket.close()
    const paths = ['/%00', '/api/auth/%00', '/v1/%00', '/%ff%fe', '/api/auth/login%ed%a0%80']
    const tokens = ['%00', 'jdg_%00', '%ed%a0%80'].map((token) => `/api/mcp/ws?token=${token}`)
    for (const path of [...paths, ...tokens]) {
      const { status } = await fetch(`${url}${path}`)
      expect([path, status < 500]).toEqual([path, true])
    }
    expect(ourFaults()).toEqual([])
  })
})
