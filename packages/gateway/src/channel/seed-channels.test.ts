import { type Channel, NO_PRICES, type PricedModel } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, listIn, openTestGateway } from '../fixture/test-gateway.ts'
import type { ChannelSeed } from '../options.ts'

const SEED: ChannelSeed = {
  name: 'main',
  kind: 'openai',
  baseUrl: 'http://127.0.0.1:9/v1/',
  apiKey: 'sk-0123456789abcdefghijklmnop',
  wire: 'chat',
  enabled: true,
  models: [
    { model: 'gpt-a', displayName: 'A', contextTokens: 1_000, prices: { input_microusd_per_1m_tokens: 5 } },
    { model: 'gpt-b' },
  ],
}
const DEMO: ChannelSeed = { name: 'demo', kind: 'script', script: 'knapsack', wire: 'responses', enabled: true, models: [] }

const channelsOf = async (gw: TestGateway) => listIn<Channel>((await gw.admin('channel.list')).structuredContent, 'items')
const pricesOf = async (gw: TestGateway) => listIn<PricedModel>((await gw.admin('pricing.list')).structuredContent, 'items')

describe.each(ENGINES)('channels of the settings on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('are put at every start, follow the settings, and leave alone what an admin changed', async () => {
    await using gw = await openTestGateway({ channels: [SEED, DEMO] }, await host.freshUrl())
    const first = await channelsOf(gw)
    expect(first).toMatchObject([
      { name: 'demo', kind: 'script', script: 'knapsack', key: null, source: 'settings' },
      { name: 'main', base_url: 'http://127.0.0.1:9/v1', key: 'sk-0…mnop', wire: 'chat', models_path: '/models' },
    ])
    const models = await pricesOf(gw)
    expect(models).toMatchObject([
      { model: 'gpt-a', display_name: 'A', context_tokens: 1_000, ...NO_PRICES, input_microusd_per_1m_tokens: 5 },
      { model: 'gpt-b', display_name: 'gpt-b', context_tokens: null, ...NO_PRICES },
    ])
    const sealed = (await gw.store.channels.byName('main'))?.sealedKey

    // The same again writes nothing.
    await gw.restart()
    expect([await channelsOf(gw), await pricesOf(gw)]).toEqual([first, models])
    expect((await gw.store.channels.byName('main'))?.sealedKey).toBe(sealed)

    await gw.admin('pricing.set', { model: 'gpt-a', upstream_channel: 'main', input_microusd_per_1m_tokens: 7 })
    const changed = { ...SEED, apiKey: 'sk-another-key-0123456789', models: [{ model: 'gpt-c' }] }
    await gw.restart({ channels: [changed] })
    expect(await channelsOf(gw)).toMatchObject([{ name: 'main', key: 'sk-a…6789', source: 'settings' }])
    expect((await pricesOf(gw)).map(({ model, input_microusd_per_1m_tokens: price }) => [model, price])).toEqual([
      ['gpt-a', 7],
      ['gpt-c', null],
    ])

    await gw.admin('channel.set', { name: 'main', enabled: false })
    await gw.restart({ channels: [{ ...changed, displayName: 'Other' }] })
    expect(await channelsOf(gw)).toMatchObject([{ name: 'main', display_name: 'main', enabled: false, source: 'admin' }])
    expect(gw.logged.join('')).toContain('the settings leave it alone')
    await gw.restart({ channels: [] })
    expect(await channelsOf(gw)).toMatchObject([{ name: 'main', source: 'admin' }])
    expect((await pricesOf(gw)).map(({ model }) => model)).toEqual(['gpt-a', 'gpt-c'])

    await gw.admin('channel.delete', { name: 'main' })
    await gw.restart({ channels: [SEED] })
    expect(await channelsOf(gw)).toMatchObject([{ name: 'main', key: 'sk-0…mnop', source: 'settings' }])
    await gw.restart({ channels: [] })
    expect(await channelsOf(gw)).toEqual([])
    expect(gw.logged.join('')).not.toContain('0123456789')
  })
})

test.each<[what: string, seeds: ChannelSeed[], message: RegExp]>([
  ['a name', [{ ...SEED, name: 'Main' }], /channel Main of the settings: its name must/],
  ['two of one name', [SEED, SEED], /channel main of the settings: it stands there twice/],
  ['no address', [{ name: 'm', kind: 'openai', wire: 'chat', enabled: true, models: [] }], /base_url is needed/],
  ['a password in the address', [{ ...SEED, baseUrl: 'http://a:secret@h/v1' }], /base_url must not hold a name or a password/],
  ['a key with a line end', [{ ...SEED, apiKey: 'secret\n' }], /api_key must be printable/],
  ['no script', [{ name: 'm', kind: 'script', wire: 'chat', enabled: true, models: [] }], /script is needed/],
  ['a price', [{ ...SEED, models: [{ model: 'x', prices: { input_microusd_per_1m_tokens: -1 } }] }], /model x: input_microusd/],
  ['a model', [{ ...SEED, models: [{ model: '' }] }], /the name of a model/],
])('%s that cannot be keeps the gateway from starting, without a word of the key', async (_what, channels, message) => {
  const failure: unknown = await openTestGateway({ channels }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'channel_invalid', message: expect.stringMatching(message) })
  expect(String(failure)).not.toContain('secret')
})
