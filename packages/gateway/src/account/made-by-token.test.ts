import { hashText } from '@parley/access'
import { TokenId } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestGateway, callTool, listIn, mint, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const FOR_ADMIN = { role: 'user', username: 'admin' }
const LEAF = `pat_${'x'.repeat(43)}`

/** A token with scopes, one that it made, and one that this made: a gateway gives the second no scope for that, so it is put there. */
async function chainIn(gw: TestGateway) {
  const root = await mint(gw, { ...FOR_ADMIN, scopes: ['admin', 'jobs'] })
  const reply = await callTool(gw.gateway.url, root.token, 'token.create', { ...FOR_ADMIN, scopes: ['jobs'] })
  const middle = { id: String(reply.structuredContent?.['id']), token: String(reply.structuredContent?.['token']) }
  const owner = await gw.store.users.byName(FOR_ADMIN.username)
  const leaf = await gw.store.tokens.add({
    hash: hashText(LEAF),
    role: 'user',
    name: 'leaf',
    ...(owner && { userId: owner.id }),
    scopes: ['jobs'],
    madeBy: TokenId.parse(middle.id),
  })
  return { root, middle, leaf: { id: leaf.id, token: LEAF } }
}

describe.each(ENGINES)('tokens that were made by a token, on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('a revoked token takes those along that were made with it, live connections too, and the audit log says so', async () => {
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const { root, middle, leaf } = await chainIn(gw)
    const sockets = {
      root: await TestSocket.open(gw.gateway.ws, root.token),
      middle: await TestSocket.open(gw.gateway.ws, middle.token),
      leaf: await TestSocket.open(gw.gateway.ws, leaf.token),
    }
    for (const socket of Object.values(sockets)) expect((await socket.call('tools/list')).result).toBeDefined()
    const { structuredContent } = await gw.admin('token.revoke', { id: middle.id })
    expect(structuredContent).toEqual({ id: middle.id, revoked_at: expect.any(String), also_revoked: 1 })
    for (const socket of [sockets.middle, sockets.leaf])
      expect(await socket.closed).toMatchObject({ code: 1008, reason: 'revoked_token' })
    for (const { token } of [middle, leaf])
      expect((await request(gw.gateway.url, token, 'tools/list')).body.error?.code).toBe('revoked_token')
    expect((await sockets.root.call('tools/list')).result).toBeDefined()
    sockets.root.socket.close()

    const audit = (await gw.admin('audit.search', { action: 'token.revoke' })).structuredContent
    expect(listIn(audit, 'items')).toMatchObject([
      { actor: 'admin', target: middle.id, outcome: 'ok', code: null },
      { actor: 'admin', target: leaf.id, outcome: 'ok', code: 'with_maker' },
      { actor: 'admin', target: null, outcome: 'ok', code: 'begun' },
    ])
    expect((await gw.admin('token.revoke', { id: middle.id })).structuredContent).toMatchObject({ also_revoked: 0 })
  })

  test('a list says by which token each was made; what a sign-in or a token without scopes makes is for itself', async () => {
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const { root, middle, leaf } = await chainIn(gw)
    const whole = await mint(gw, FOR_ADMIN)
    const reply = await callTool(gw.gateway.url, whole.token, 'token.create', { role: 'judge', name: 'j1' })
    const judge = String(reply.structuredContent?.['id'])
    const items = listIn<{ id: string; made_by: unknown }>((await gw.admin('token.list')).structuredContent, 'items')
    expect(new Map(items.map(({ id, made_by }) => [id, made_by]))).toEqual(
      new Map([
        [root.id, null],
        [middle.id, root.id],
        [leaf.id, middle.id],
        [whole.id, null],
        [judge, null],
      ]),
    )
    expect((await gw.admin('token.revoke', { id: whole.id })).structuredContent).toMatchObject({ also_revoked: 0 })
    expect((await gw.admin('token.revoke', { id: root.id })).structuredContent).toMatchObject({ also_revoked: 2 })
  })
})
