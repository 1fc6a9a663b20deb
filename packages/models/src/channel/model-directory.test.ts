import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ModelScript, NO_PRICES } from '@parley/protocol'
import { type ChannelRecord, type Store, openStore } from '@parley/store'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestUpstream, openTestUpstream, reply } from '../testing/test-upstream.ts'
import { maskKey, openSealer } from '../secret/seal.ts'
import type { ModelDirectory } from './directory.ts'
import { openModelDirectory } from './model-directory.ts'
import { openScriptFiles } from './script-files.ts'

const KEY = 'sk-very-secret-0123456789abcdef'
const PRICES = { ...NO_PRICES, input_microusd_per_1m_tokens: 1_000_000, output_microusd_per_1m_tokens: 2_000_000 }
const sealer = openSealer(new Uint8Array(32).fill(7), randomBytes)
const logged: string[] = []
const log = pino({ level: 'debug' }, { write: (line) => void logged.push(line) })

let folder: string
let store: Store
let upstream: TestUpstream
let directory: ModelDirectory
let files: Record<string, string>
let time: number

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-directory-'))
  store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}` })
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  for (const { name } of await store.channels.list()) await store.channels.delete(name)
  upstream = await openTestUpstream(['gpt-a', 'gpt-b'])
  time = 1_800_000_000_000
  files = {}
  logged.length = 0
  const read = async (name: string) => {
    if (name === 'locked') throw new Error('EACCES')
    return files[name]
  }
  const scripts = openScriptFiles({ read, names: async () => Object.keys(files) }, log)
  directory = openModelDirectory({ store, sealer, scripts, log, now: () => time })
})
afterEach(async () => {
  await directory.close()
  await upstream[Symbol.asyncDispose]()
})

const put = (name: string, more: Partial<ChannelRecord> & { readonly key?: string } = {}): Promise<ChannelRecord> => {
  const { key = KEY, ...rest } = more
  return store.channels.put({
    name,
    displayName: name,
    kind: 'openai',
    baseUrl: upstream.url,
    wire: 'responses',
    modelsPath: '/models',
    script: null,
    sealedKey: sealer.seal(name, key),
    keyHint: maskKey(key),
    enabled: true,
    source: 'admin',
    ...rest,
  })
}
const putModel = (channel: string, model: string, active = true) =>
  store.channels.putModel({
    channel,
    model,
    displayName: '',
    contextTokens: 128_000,
    prices: PRICES,
    active,
    source: 'admin',
  })
const script = (more: Partial<ModelScript> = {}): string =>
  JSON.stringify({
    schema_version: 'script.v1',
    model: 'knapsack-script',
    display_name: 'Knapsack',
    wire: 'chat',
    prices: { input_microusd_per_1m_tokens: 5, output_microusd_per_1m_tokens: 6 },
    answers: [{ status: 200, body: {} }],
    ...more,
  })
const brief = async (live = true) => {
  const { items, channels } = await directory.list(live)
  return {
    items: items.map(({ upstream_channel, model, priced, live: isLive }) => [upstream_channel, model, priced, isLive]),
    channels: channels.map(({ channel, ok, error }) => [channel, ok, error]),
  }
}

describe('list', () => {
  test('merges what is set up with what the upstream lists', async () => {
    await put('main')
    await putModel('main', 'gpt-b')
    await putModel('main', 'gpt-c')
    await putModel('main', 'gpt-a', false)
    await put('off', { enabled: false })
    expect((await directory.list(true)).items).toEqual([
      {
        model: 'gpt-b',
        upstream_channel: 'main',
        display_name: 'gpt-b',
        currency: 'USD',
        unit: 'micro-USD per 1M tokens',
        ...PRICES,
        priced: true,
        script: false,
        live: true,
        context_tokens: 128_000,
      },
      expect.objectContaining({ model: 'gpt-c', live: false }),
    ])
    expect(upstream.asked).toEqual([{ path: '/v1/models', authorization: `Bearer ${KEY}` }])
    await store.channels.deleteModel('main', 'gpt-a')
    expect(await brief()).toEqual({
      items: [
        ['main', 'gpt-a', false, true],
        ['main', 'gpt-b', true, true],
        ['main', 'gpt-c', true, false],
      ],
      channels: [['main', true, null]],
    })
  })

  test('without live nobody is asked', async () => {
    await put('main')
    await putModel('main', 'gpt-b')
    expect(await brief(false)).toEqual({ items: [['main', 'gpt-b', true, null]], channels: [] })
    expect(upstream.asked).toEqual([])
  })

  test('asks once a minute and once at a time, and anew when the address or the key is another', async () => {
    await put('main')
    await Promise.all(Array.from({ length: 20 }, () => directory.list(true)))
    time += 59_000
    await directory.list(true)
    expect(upstream.asked).toHaveLength(1)
    time += 2_000
    upstream.models = ['gpt-z']
    expect((await brief()).items).toEqual([['main', 'gpt-z', false, true]])
    expect(upstream.asked).toHaveLength(2)
    await put('main', { modelsPath: '/list' })
    await directory.list(true)
    await put('main', { modelsPath: '/list', key: 'sk-another' })
    await directory.list(true)
    await put('main', { sealedKey: null, keyHint: null, baseUrl: `${upstream.url}/` })
    await directory.list(true)
    expect(upstream.asked.slice(2)).toEqual([
      { path: '/v1/list', authorization: `Bearer ${KEY}` },
      { path: '/v1/list', authorization: 'Bearer sk-another' },
      { path: '/v1/models', authorization: undefined },
    ])
  })

  test('a slow upstream stalls nobody, is named, and its late answer is there for the next list', async () => {
    let late: (() => void) | undefined
    upstream.serve = (request, response) => {
      late = () => reply(response, 200, { data: [{ id: 'gpt-late' }] })
      void request
    }
    await using quick = await openTestUpstream(['gpt-quick'])
    await put('slow')
    await put('quick', { baseUrl: quick.url })
    await putModel('slow', 'gpt-known')
    expect(await brief()).toEqual({
      items: [
        ['quick', 'gpt-quick', false, true],
        ['slow', 'gpt-known', true, null],
      ],
      channels: [
        ['quick', true, null],
        ['slow', false, 'no answer yet'],
      ],
    })
    late?.()
    const channel = await store.channels.byName('slow')
    if (channel === undefined) throw new Error('it is gone')
    await directory.ask(channel)
    expect((await brief()).channels).toContainEqual(['slow', true, null])
    expect(upstream.asked.length).toBeLessThanOrEqual(2)
  })

  test('an upstream that never answers is given up, and remembered as such for ten seconds', async () => {
    upstream.serve = () => undefined
    const channel = await put('main')
    expect((await directory.ask(channel)).check).toMatchObject({
      ok: false,
      error: 'upstream_unavailable: no whole answer within 3 s',
    })
    expect((await brief()).channels).toEqual([['main', false, 'upstream_unavailable: no whole answer within 3 s']])
    expect(upstream.asked).toHaveLength(1)
    upstream.serve = undefined
    time += 10_001
    expect((await brief()).channels).toEqual([['main', true, null]])
  })

  test('closing waits for no upstream', async () => {
    const asked = new Promise<void>((resolve) => {
      upstream.serve = () => resolve()
    })
    const channel = await put('main')
    const waiting = directory.ask(channel)
    await asked
    await directory.close()
    expect((await waiting).check.ok).toBe(false)
  })

  test('what was listed stays when the upstream goes, for ten minutes', async () => {
    await put('main')
    await directory.list(true)
    upstream.serve = (_request, response) => reply(response, 503, 'down')
    time += 61_000
    expect(await brief()).toEqual({
      items: [
        ['main', 'gpt-a', false, null],
        ['main', 'gpt-b', false, null],
      ],
      channels: [['main', false, 'upstream_unavailable: it answered with status 503']],
    })
    expect((await directory.resolve('gpt-a', null)).channel.name).toBe('main')
    time += 600_000
    expect((await brief()).items).toEqual([])
  })

  test.each<[what: string, status: number, body: unknown, error: RegExp]>([
    ['a refused key', 401, { error: { message: `Incorrect API key: ${KEY}` } }, /^upstream_unauthorized: it refuses the key/],
    ['a forbidden key', 403, {}, /^upstream_unauthorized: .*403/],
    ['a wrong path', 404, 'no', /^upstream_bad_response: it has no list of models .*404.*base URL.*pricing\.set/],
    ['a redirect', 307, '', /^upstream_bad_response: .*307/],
    ['too many calls', 429, {}, /^upstream_unavailable: .*429/],
    ['garbage', 200, '<html>', /^upstream_bad_response: .*not JSON/],
    ['another document', 200, { models: 3 }, /^upstream_bad_response: .*`data`/],
    ['null', 200, 'null', /^upstream_bad_response: .*`data`/],
    ['a list without an end', 200, `[${'{"id":"x"},'.repeat(400_000)}`, /^upstream_bad_response: .*4194304 bytes/],
  ])('%s is named and keeps the rest listed', async (_what, status, body, error) => {
    upstream.serve = (request, response) =>
      request.url === '/v1/models'
        ? reply(response, status, body, { location: '/elsewhere' })
        : reply(response, 200, { data: [] })
    await put('main')
    await putModel('main', 'gpt-c')
    const { items, channels } = await brief()
    expect(items).toEqual([['main', 'gpt-c', true, null]])
    expect(channels).toEqual([['main', false, expect.stringMatching(error)]])
    expect(upstream.asked).toHaveLength(1)
    expect(JSON.stringify(channels) + logged.join('')).not.toContain(KEY)
    expect(logged.join('')).toContain('a channel does not list its models')
  })

  test('nobody there, no such host, a cut answer', async () => {
    const gone = await openTestUpstream()
    await gone[Symbol.asyncDispose]()
    upstream.serve = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"data":[')
      setImmediate(() => response.destroy())
    }
    await put('cut')
    await put('gone', { baseUrl: gone.url })
    await put('host', { baseUrl: 'http://no-such-host.invalid/v1' })
    for (const channel of await store.channels.list()) {
      const { check, models } = await directory.ask(channel)
      expect({ check, models }).toMatchObject({
        check: { ok: false, error: expect.stringMatching(/^upstream_unavailable: ./) },
        models: [],
      })
    }
  })

  test('of a huge list the first two thousand names that a job could have are taken', async () => {
    upstream.serve = (_request, response) =>
      reply(response, 200, [
        { id: 7 },
        null,
        'plain',
        { id: '' },
        { id: 'x'.repeat(257) },
        { id: 'a\0b' },
        ...Array.from({ length: 5_000 }, (_, n) => ({ id: `m${n}` })),
        { id: 'm0' },
      ])
    await put('main')
    const { items, channels } = await directory.list(true)
    expect(items).toHaveLength(2_000)
    expect(items.map(({ model }) => model)).toContain('plain')
    expect(channels).toMatchObject([{ ok: true, error: 'only the first 2000 of 5001 models are taken' }])
  })

  test('a key of another secret is not sent anywhere', async () => {
    const foreign = openSealer(new Uint8Array(32).fill(8), randomBytes)
    await put('main', { sealedKey: foreign.seal('main', KEY) })
    await putModel('main', 'gpt-a')
    expect((await brief()).channels).toEqual([['main', false, expect.stringMatching(/^key_unreadable: /)]])
    await expect(directory.resolve('gpt-a', null)).rejects.toMatchObject({ code: 'unavailable', field: 'upstream_channel' })
    expect(upstream.asked).toEqual([])
  })
})

describe('scripts', () => {
  test('are listed as such and cost nothing, whatever price stands in their file or is set for their name', async () => {
    files['knapsack'] = script()
    await put('demo', { kind: 'script', baseUrl: null, sealedKey: null, keyHint: null, script: 'knapsack' })
    const { items, channels } = await directory.list(true)
    expect(items).toMatchObject([
      {
        model: 'knapsack-script',
        display_name: 'Knapsack (script)',
        script: true,
        live: true,
        priced: true,
        input_microusd_per_1m_tokens: 0,
      },
    ])
    expect(channels).toMatchObject([{ channel: 'demo', ok: true, error: null }])
    await store.channels.putModel({
      channel: 'demo',
      model: 'knapsack-script',
      displayName: 'Mine',
      contextTokens: null,
      prices: { ...NO_PRICES, output_microusd_per_1m_tokens: 7 },
      active: true,
      source: 'admin',
    })
    expect(await directory.resolve('knapsack-script', null)).toMatchObject({
      channel: { name: 'demo', wire: 'chat' },
      apiKey: null,
      prices: {
        input_microusd_per_1m_tokens: 0,
        cached_input_microusd_per_1m_tokens: 0,
        output_microusd_per_1m_tokens: 0,
        cached_output_microusd_per_1m_tokens: 0,
        reasoning_microusd_per_1m_tokens: 0,
      },
      script: { model: 'knapsack-script', answers: [{ status: 200 }] },
    })
    expect((await directory.list(false)).items).toMatchObject([{ display_name: 'Mine (script)', live: null }])
  })

  test('that are missing or broken say so', async () => {
    files['broken'] = script({ answers: [] })
    await put('a', { kind: 'script', baseUrl: null, script: 'none' })
    await put('b', { kind: 'script', baseUrl: null, script: 'broken' })
    await put('c', { kind: 'script', baseUrl: null, script: 'locked' })
    expect((await brief()).channels).toEqual([
      ['a', false, 'script_missing: there is no script none'],
      ['b', false, expect.stringMatching(/^script_broken: broken is no script: answers: /)],
      ['c', false, 'script_broken: locked cannot be read; the log says why'],
    ])
    await expect(directory.resolve('knapsack-script', 'b')).rejects.toMatchObject({ code: 'not_found', field: 'model' })
    files['broken'] = script()
    expect((await directory.resolve('knapsack-script', 'b')).script?.display_name).toBe('Knapsack')
  })
})

describe('resolve', () => {
  test('the first enabled channel by name that it is set up for, then the first whose upstream lists it', async () => {
    await put('a', { enabled: false })
    await putModel('a', 'gpt-b')
    await put('b')
    await put('c')
    await putModel('c', 'gpt-b')
    expect(await directory.resolve('gpt-b', null)).toEqual({
      channel: await store.channels.byName('c'),
      model: 'gpt-b',
      apiKey: KEY,
      prices: PRICES,
      contextTokens: 128_000,
      script: null,
      places: null,
    })
    expect(upstream.asked).toEqual([])
    expect(await directory.resolve('gpt-b', 'b')).toMatchObject({
      channel: { name: 'b' },
      prices: NO_PRICES,
      contextTokens: null,
    })
    expect((await directory.resolve('gpt-a', '')).channel.name).toBe('b')
  })

  test('what is not there is not found, with what is', async () => {
    await put('main')
    await putModel('main', 'gpt-b', false)
    await putModel('main', 'gpt-c')
    await put('off', { enabled: false })
    for (const channel of ['off', 'none'])
      await expect(directory.resolve('gpt-c', channel)).rejects.toMatchObject({
        code: 'not_found',
        field: 'upstream_channel',
        hint: 'the channels there are: main',
      })
    // Taken out of use, although the upstream lists it.
    for (const model of ['gpt-b', 'gpt-x'])
      await expect(directory.resolve(model, null)).rejects.toMatchObject({
        code: 'not_found',
        field: 'model',
        hint: expect.stringContaining('models.list names those there are: gpt-c'),
      })
  })

  test('an upstream that does not say what it has is unavailable, which is not the same as not found', async () => {
    upstream.serve = (_request, response) => reply(response, 500, {})
    await put('main')
    await putModel('main', 'gpt-c')
    await expect(directory.resolve('gpt-a', null)).rejects.toMatchObject({
      code: 'unavailable',
      field: 'model',
      message: 'model: whether there is a model gpt-a is not known: channel main does not list its models',
      hint: expect.stringContaining('models.list with live says'),
    })
    expect((await directory.resolve('gpt-c', null)).model).toBe('gpt-c')
  })
})
