import type { Store, Tokens } from '@parley/store'
import { expect, test } from 'vitest'
import { mint, openTestGateway, request } from './fixture/test-gateway.ts'
import { TestSocket } from './fixture/wires.ts'

test('when the word of a revocation is lost on its way, the next round of checks cuts the connection', async () => {
  await using gw = await openTestGateway()
  const deaf: Store = {
    ...gw.store,
    topics: {
      publish: (topic) => gw.store.topics.publish(topic),
      hears: () => true,
      subscribe: (topic, changed) => gw.store.topics.subscribe(topic, changed),
      subscribePrefix: () => () => undefined,
    },
  }
  await gw.restart({ store: deaf, limits: { recheckMs: 100 } })
  const { token, id } = await mint(gw, { role: 'judge', name: 'j1' })
  const kept = await mint(gw, { role: 'judge', name: 'j2' })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const other = await TestSocket.open(gw.gateway.ws, kept.token)
  await gw.admin('token.revoke', { id })
  expect(await socket.closed).toMatchObject({ reason: 'revoked_token' })
  expect((await request(gw.gateway.url, token, 'tools/list')).body.error?.code).toBe('revoked_token')
  expect((await other.call('tools/list')).result).toBeDefined()
  other.socket.close()
})

test('when the store says that words may have got lost, everybody is checked again at once', async () => {
  await using gw = await openTestGateway()
  const listeners = new Map<string, (topic: string) => void>()
  const { topics } = gw.store
  const deaf: Store = {
    ...gw.store,
    topics: {
      publish: (topic) => topics.publish(topic),
      hears: () => true,
      subscribe: (topic, changed) => topics.subscribe(topic, changed),
      subscribePrefix: (prefix, changed) => {
        listeners.set(prefix, changed)
        return () => undefined
      },
    },
  }
  await gw.restart({ store: deaf })
  const { token, id } = await mint(gw, { role: 'judge', name: 'j1' })
  const kept = await mint(gw, { role: 'judge', name: 'j2' })
  const socket = await TestSocket.open(gw.gateway.ws, token)
  const other = await TestSocket.open(gw.gateway.ws, kept.token)
  await gw.admin('token.revoke', { id })
  listeners.get('token/')?.('token/')
  expect(await socket.closed).toMatchObject({ reason: 'revoked_token' })
  expect((await other.call('tools/list')).result).toBeDefined()
  other.socket.close()
})

test('a token revoked while it is being looked up does not get in on the row that was read before', async () => {
  await using gw = await openTestGateway()
  const { token, id } = await mint(gw, { role: 'judge', name: 'j1' })
  const read = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const { tokens } = gw.store
  const slow: Tokens = {
    add: (made) => tokens.add(made),
    async byHash(hash) {
      const row = await tokens.byHash(hash)
      read.resolve()
      await go.promise
      return row
    },
    byId: (wanted) => tokens.byId(wanted),
    ofAgent: (agentId) => tokens.ofAgent(agentId),
    list: (page) => tokens.list(page),
    revoke: (wanted) => tokens.revoke(wanted),
    used: (ids, at) => tokens.used(ids, at),
  }
  await gw.restart({ store: { ...gw.store, tokens: slow } })
  const heard = Promise.withResolvers<void>()
  gw.store.topics.subscribe(`token/${id}`, heard.resolve)
  const answer = request(gw.gateway.url, token, 'tools/list')
  await read.promise
  await gw.admin('token.revoke', { id })
  await heard.promise
  go.resolve()
  expect((await answer).body.error?.code).toBe('revoked_token')
})
