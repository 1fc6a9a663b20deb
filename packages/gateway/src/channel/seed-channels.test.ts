import { type Channel, NO_PRICES, type PricedModel } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import type { ChannelSeed } from '@parley/models'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, listIn, openTestGateway } from '../fixture/test-gateway.ts'

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
    await using gw = await openTestGateway({ channels: [SEED, DEMO] }, await host.migratedUrl())
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

test('what the settings and admins change of channels and prices is in the audit log, by field and without a secret', async () => {
  await using gw = await openTestGateway({ channels: [SEED] })
  const hidden = { ...SEED, baseUrl: 'http://127.0.0.1:9/v1/with-a-secret', apiKey: 'sk-another-key-0123456789' }
  const changed = { ...hidden, models: [{ model: 'gpt-a', prices: { output_microusd_per_1m_tokens: 9 } }] }
  await gw.restart({ channels: [changed] })
  // The same again is no change.
  await gw.restart({ channels: [changed] })
  await gw.restart({ channels: [{ ...hidden, enabled: false, models: [] }] })
  await gw.restart({ channels: [] })
  await gw.admin('channel.set', { name: 'own', base_url: 'http://127.0.0.1:9/secret', api_key: 'sk-of-the-admin-0123456789' })
  await gw.admin('channel.set', { name: 'own', api_key: '', enabled: false })
  await gw.admin('channel.set', { name: 'own', kind: 'script' })
  await gw.admin('pricing.set', { upstream_channel: 'own', model: 'm', input_microusd_per_1m_tokens: 5 })
  await gw.admin('pricing.set', { upstream_channel: 'own', model: 'm', input_microusd_per_1m_tokens: 7, active: false })
  await gw.admin('pricing.delete', { upstream_channel: 'own', model: 'm' })
  await gw.admin('channel.delete', { name: 'own' })
  const lines = (await gw.store.audit.after(0, 500)).filter(({ action }) => /^(?:channel|pricing)\./.test(action))
  expect(
    lines.filter(({ code }) => code !== 'begun').map(({ actor, action, target, code }) => [actor, action, target, code]),
  ).toEqual([
    ['local', 'channel.set', 'main: kind, base_url, api_key, enabled=true, wire, models_path, display_name', 'settings'],
    [
      'local',
      'pricing.set',
      'main/gpt-a: active=true, input_microusd_per_1m_tokens=5, context_tokens=1000, display_name',
      'settings',
    ],
    ['local', 'pricing.set', 'main/gpt-b: active=true, display_name', 'settings'],
    ['local', 'channel.set', 'main: base_url, api_key', 'settings'],
    ['local', 'pricing.delete', 'main/gpt-b', 'settings'],
    [
      'local',
      'pricing.set',
      'main/gpt-a: input_microusd_per_1m_tokens=null, output_microusd_per_1m_tokens=9, context_tokens=null, display_name',
      'settings',
    ],
    ['local', 'channel.set', 'main: enabled=false', 'settings'],
    ['local', 'pricing.delete', 'main/gpt-a', 'settings'],
    ['local', 'channel.delete', 'main', 'settings'],
    ['admin', 'channel.set', 'own: kind, base_url, api_key, enabled=true, wire, models_path, display_name', null],
    ['admin', 'channel.set', 'own: api_key=null, enabled=false', null],
    ['admin', 'channel.set', 'own', 'invalid_argument'],
    ['admin', 'pricing.set', 'own/m: active=true, input_microusd_per_1m_tokens=5, display_name', null],
    ['admin', 'pricing.set', 'own/m: active=false, input_microusd_per_1m_tokens=7', null],
    ['admin', 'pricing.delete', 'own/m', null],
    ['admin', 'channel.delete', 'own', null],
  ])
  expect(lines.filter(({ code }) => code === 'begun')).toHaveLength(16)
  expect(JSON.stringify(lines)).not.toMatch(/secret|0123456789|sk-/)
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
