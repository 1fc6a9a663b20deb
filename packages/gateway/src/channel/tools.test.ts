import { randomBytes } from 'node:crypto'
import { type Channel, NO_PRICES, type PricedModel, TOOLS, type ToolName } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { openTestUpstream, reply } from '@parley/models/testing'
import { openSealer } from '@parley/models'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../fixture/job-socket.ts'
import { addUser } from '../fixture/test-job.ts'
import { type TestGateway, callTool, listIn, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'
import { deriveKeys } from '../keys.ts'

const KEY = 'sk-marker-0123456789-marker-abcdef'
const SCRIPT = JSON.stringify({
  schema_version: 'script.v1',
  model: 'knapsack-script',
  display_name: 'Knapsack',
  answers: [{ status: 200, body: {} }],
})
const scripts = { read: async (name: string) => (name === 'knapsack' ? SCRIPT : undefined), names: async () => ['knapsack'] }

const failure = async (gw: TestGateway, name: ToolName, args: object) => (await gw.admin(name, args))._meta?.['parley/error']

async function ok(gw: TestGateway, name: ToolName, args: object = {}): Promise<Record<string, unknown>> {
  const reply = await gw.admin(name, args)
  if (reply.structuredContent === undefined) throw new Error(`${name} failed: ${JSON.stringify(reply)}`)
  expect(TOOLS[name].output.parse(reply.structuredContent)).toEqual(reply.structuredContent)
  return reply.structuredContent
}

describe.each(ENGINES)('channels and prices on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('a channel is added, changed a field at a time, asked and removed', async () => {
    await using upstream = await openTestUpstream(['gpt-b', 'gpt-a'])
    await using gw = await openTestGateway({ scripts }, await host.migratedUrl())
    const added = await ok(gw, 'channel.set', { name: 'main', base_url: `${upstream.url}/`, api_key: KEY })
    expect(added).toEqual({
      name: 'main',
      display_name: 'main',
      kind: 'openai',
      base_url: upstream.url,
      wire: 'responses',
      models_path: '/models',
      script: null,
      key: 'sk-m…cdef',
      enabled: true,
      source: 'admin',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const changed = await ok(gw, 'channel.set', { name: 'main', display_name: 'Main', wire: 'chat', enabled: false })
    expect(changed).toEqual({
      ...added,
      display_name: 'Main',
      wire: 'chat',
      enabled: false,
      updated_at: expect.any(String),
    })
    expect((await ok(gw, 'models.list'))['channels']).toEqual([])
    await ok(gw, 'channel.set', { name: 'main', enabled: true })
    expect(await ok(gw, 'channel.models', { name: 'main' })).toMatchObject({
      check: { channel: 'main', ok: true, error: null },
      items: ['gpt-a', 'gpt-b'],
    })
    expect(upstream.asked.at(-1)).toEqual({ path: '/v1/models', authorization: `Bearer ${KEY}` })
    await ok(gw, 'pricing.set', { model: 'gpt-a', upstream_channel: 'main' })
    expect(await ok(gw, 'channel.delete', { name: 'main' })).toEqual({ name: 'main', deleted: true, detached_models: ['gpt-a'] })
    expect(await failure(gw, 'channel.delete', { name: 'main' })).toMatchObject({ code: 'not_found', field: 'name' })
    expect(await failure(gw, 'channel.models', { name: 'main' })).toMatchObject({ code: 'not_found', field: 'name' })
    expect(await ok(gw, 'pricing.list')).toEqual({ items: [] })
  })

  test('prices are set and changed one at a time, and taken away', async () => {
    await using gw = await openTestGateway({ scripts }, await host.migratedUrl())
    await ok(gw, 'channel.set', { name: 'main', base_url: 'http://127.0.0.1:9/v1' })
    const target = { model: 'gpt-a', upstream_channel: 'main' }
    await ok(gw, 'pricing.set', {
      ...target,
      input_microusd_per_1m_tokens: 1_250_000,
      output_microusd_per_1m_tokens: 10_000_000,
      context_tokens: 400_000,
    })
    const changed = await ok(gw, 'pricing.set', {
      ...target,
      display_name: 'A',
      cached_input_microusd_per_1m_tokens: 0,
      output_microusd_per_1m_tokens: null,
      active: false,
    })
    expect(changed).toEqual({
      ...target,
      display_name: 'A',
      context_tokens: 400_000,
      ...NO_PRICES,
      input_microusd_per_1m_tokens: 1_250_000,
      cached_input_microusd_per_1m_tokens: 0,
      active: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect(await ok(gw, 'pricing.list')).toEqual({ items: [changed] })
    expect(await ok(gw, 'models.list', { live: false })).toEqual({ items: [], channels: [] })
    await ok(gw, 'pricing.set', { ...target, active: true, output_microusd_per_1m_tokens: 1 })
    expect(listIn<PricedModel>(await ok(gw, 'models.list', { live: false }), 'items')).toMatchObject([
      { model: 'gpt-a', priced: true },
    ])
    expect(await ok(gw, 'pricing.delete', target)).toEqual({ ...target, deleted: true })
    expect(await failure(gw, 'pricing.delete', target)).toMatchObject({ code: 'not_found', field: 'model' })
  })
})

test('what cannot work is refused by its field', async () => {
  await using gw = await openTestGateway({ scripts })
  const base_url = 'http://127.0.0.1:9/v1'
  await ok(gw, 'channel.set', { name: 'main', base_url, api_key: KEY })
  await ok(gw, 'channel.set', { name: 'demo', script: 'knapsack' })
  const cases: [name: ToolName, args: object, code: string, field: string, hint?: string][] = [
    ['channel.set', { name: 'new' }, 'invalid_argument', 'base_url'],
    ['channel.set', { name: 'New', base_url }, 'invalid_argument', 'name'],
    ['channel.set', { name: 'new', base_url: 'ftp://127.0.0.1/v1' }, 'invalid_argument', 'base_url'],
    ['channel.set', { name: 'new', base_url: 'http://me:pw@127.0.0.1/v1' }, 'invalid_argument', 'base_url'],
    ['channel.set', { name: 'new', base_url: 'http://127.0.0.1/v1?key=1' }, 'invalid_argument', 'base_url'],
    ['channel.set', { name: 'new', base_url: 'http:///127.0.0.1/v1' }, 'invalid_argument', 'base_url'],
    ['channel.set', { name: 'new', base_url: String.raw`http://127.0.0.1\v1` }, 'invalid_argument', 'base_url'],
    ['channel.set', { name: 'new', base_url, api_key: 'two words' }, 'invalid_argument', 'api_key'],
    ['channel.set', { name: 'new', base_url, api_key: 'line\nend' }, 'invalid_argument', 'api_key'],
    ['channel.set', { name: 'new', base_url, models_path: '/a b' }, 'invalid_argument', 'models_path'],
    ['channel.set', { name: 'new', base_url, models_path: 'models' }, 'invalid_argument', 'models_path'],
    ['channel.set', { name: 'new', base_url, display_name: 'a\0b' }, 'invalid_argument', 'display_name'],
    ['channel.set', { name: 'new', base_url, script: 'knapsack' }, 'invalid_argument', 'base_url'],
    ['channel.set', { name: 'new', kind: 'openai', base_url, script: 'knapsack' }, 'invalid_argument', 'script'],
    ['channel.set', { name: 'new', kind: 'script' }, 'invalid_argument', 'script'],
    ['channel.set', { name: 'new', script: 'none' }, 'invalid_argument', 'script', 'there are: knapsack'],
    ['channel.set', { name: 'new', script: '../none' }, 'invalid_argument', 'script'],
    ['channel.set', { name: 'new', script: 'knapsack', api_key: KEY }, 'invalid_argument', 'api_key'],
    ['channel.set', { name: 'demo', wire: 'chat' }, 'invalid_argument', 'wire'],
    ['channel.set', { name: 'main', kind: 'script', script: 'knapsack' }, 'invalid_argument', 'kind'],
    ['channel.set', { name: 'main', base_url: 'http://127.0.0.1:10/v1' }, 'invalid_argument', 'base_url'],
    ['pricing.set', { model: 'x', upstream_channel: 'none' }, 'not_found', 'upstream_channel'],
    ['pricing.set', { model: 'x', upstream_channel: 'demo' }, 'invalid_argument', 'model', 'its one model is knapsack-script'],
    ['pricing.set', { model: 'a\0b', upstream_channel: 'main' }, 'invalid_argument', 'model'],
    [
      'pricing.set',
      { model: 'x', upstream_channel: 'main', input_microusd_per_1m_tokens: -1 },
      'invalid_argument',
      'input_microusd_per_1m_tokens',
    ],
    ['user.set_quota', { username: 'nobody', jobs_at_once: 1 }, 'not_found', 'username'],
    ['user.set_quota', { username: 'admin', jobs_at_once: -1 }, 'invalid_argument', 'jobs_at_once'],
  ]
  for (const [name, args, code, field, hint] of cases)
    expect({ args, failure: await failure(gw, name, args) }).toMatchObject({
      failure: { code, field, ...(hint === undefined ? {} : { hint }) },
    })
  expect(listIn<Channel>(await ok(gw, 'channel.list'), 'items').map(({ name, base_url: url }) => [name, url])).toEqual([
    ['demo', null],
    ['main', base_url],
  ])
})

test('a key goes to the address it was given for, until somebody says otherwise', async () => {
  await using old = await openTestUpstream()
  await using other = await openTestUpstream()
  await using gw = await openTestGateway()
  await ok(gw, 'channel.set', { name: 'main', base_url: old.url, api_key: KEY })
  expect(await failure(gw, 'channel.set', { name: 'main', base_url: other.url })).toMatchObject({
    field: 'base_url',
    message: 'base_url: changes where the key would be sent',
    hint: expect.stringContaining('give api_key too'),
  })
  // The same address again changes nothing.
  expect(await ok(gw, 'channel.set', { name: 'main', base_url: `${old.url}/` })).toMatchObject({ key: 'sk-m…cdef' })
  expect(await ok(gw, 'channel.set', { name: 'main', base_url: other.url, api_key: '' })).toMatchObject({ key: null })
  await ok(gw, 'channel.models', { name: 'main' })
  expect(await ok(gw, 'channel.set', { name: 'main', base_url: old.url })).toMatchObject({ key: null, base_url: old.url })
  expect([old.asked, other.asked]).toEqual([[], [{ path: '/v1/models', authorization: undefined }]])
})

test('a key is nowhere to be seen: not in the database, an answer, a log line or the audit', async () => {
  await using upstream = await openTestUpstream()
  upstream.serve = (incoming, response) => reply(response, 401, { error: { message: `bad ${incoming.headers.authorization}` } })
  await using gw = await openTestGateway()
  const { url } = gw.gateway
  const answers = [
    await request(url, gw.adminToken, 'tools/call', {
      name: 'channel.set',
      arguments: { name: 'main', base_url: upstream.url, api_key: KEY },
    }),
    await request(url, gw.adminToken, 'tools/call', {
      name: 'channel.set',
      arguments: { name: 'main', base_url: 'nonsense', api_key: KEY },
    }),
    await request(url, gw.adminToken, 'tools/call', { name: 'channel.set', arguments: { name: 'm', api_key: `${KEY} ` } }),
    await request(url, gw.adminToken, 'tools/call', { name: 'channel.set', arguments: { name: 'm', key: KEY } }),
    await gw.admin('channel.models', { name: 'main' }),
    await gw.admin('channel.list'),
    await gw.admin('models.list'),
    await gw.admin('audit.search', { limit: 200 }),
  ]
  expect(upstream.asked[0]?.authorization).toBe(`Bearer ${KEY}`)
  const record = await gw.store.channels.byName('main')
  expect(JSON.stringify([answers, gw.logged, record])).not.toContain('marker')
  expect(JSON.stringify(answers)).toContain('upstream_unauthorized')
  const { structuredContent } = await gw.admin('audit.search', { action: 'channel.set', outcome: 'ok' })
  expect(listIn(structuredContent, 'items')).toContainEqual(
    expect.objectContaining({ target: expect.stringMatching(/^main: .*api_key/), code: null }),
  )
})

test('a key that was sealed with another secret is shown as unreadable, and set anew', async () => {
  await using gw = await openTestGateway()
  await ok(gw, 'channel.set', { name: 'main', base_url: 'http://127.0.0.1:9/v1', api_key: KEY })
  const record = await gw.store.channels.byName('main')
  if (record === undefined) throw new Error('it is gone')
  const foreign = openSealer(deriveKeys(new Uint8Array(32).fill(8)).channelKeys, randomBytes)
  await gw.store.channels.put({ ...record, sealedKey: foreign.seal('main', KEY) })
  expect(await ok(gw, 'channel.list')).toMatchObject({ items: [{ name: 'main', key: 'unreadable' }] })
  expect(await ok(gw, 'channel.models', { name: 'main' })).toMatchObject({
    check: { ok: false, error: expect.stringMatching(/^key_unreadable/) },
  })
  expect(await ok(gw, 'channel.set', { name: 'main', api_key: KEY })).toMatchObject({ key: 'sk-m…cdef' })
})

test('channels, prices and quotas are for admins; models.list and the resource are for everybody signed in', async () => {
  await using gw = await openTestGateway({ scripts })
  const ada = await addUser(gw, 'ada')
  const { url } = gw.gateway
  const calls: [ToolName, object][] = [
    ['channel.list', {}],
    ['channel.set', { name: 'x', base_url: 'http://127.0.0.1:9' }],
    ['channel.delete', { name: 'x' }],
    ['channel.models', { name: 'x' }],
    ['pricing.list', {}],
    ['pricing.set', { model: 'x', upstream_channel: 'x' }],
    ['pricing.delete', { model: 'x', upstream_channel: 'x' }],
    ['user.set_quota', { username: 'ada', jobs_at_once: 99 }],
  ]
  for (const [name, args] of calls) {
    const { body } = await request(url, ada.token, 'tools/call', { name, arguments: args })
    expect(body.error).toMatchObject({ code: -32602, message: `unknown tool: ${name}` })
  }
  const socket = await TestSocket.open(gw.gateway.ws, ada.token)
  const uri = 'resource://models/list'
  await socket.call('resources/subscribe', { uri })
  await ok(gw, 'channel.set', { name: 'demo', script: 'knapsack' })
  await until(() => socket.messages.some(({ method }) => method === 'notifications/resources/updated'))
  const { result } = await socket.call('resources/read', { uri })
  const listed = (await callTool(url, ada.token, 'models.list', { live: false })).structuredContent
  expect(JSON.parse(listIn<{ text: string }>(result, 'contents')[0]?.text ?? '')).toEqual(listed)
  expect(listed).toMatchObject({ items: [{ model: 'knapsack-script', display_name: 'Knapsack (script)', script: true }] })
  socket.socket.terminate()
})
