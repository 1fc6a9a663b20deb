import { openStore } from '@parley/store'
import { listenerPids, startPostgres } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { callTool, optionsOf, request, signInByLink } from './fixture/test-gateway.ts'
import { TestSocket } from './fixture/wires.ts'
import { openGateway } from './gateway.ts'

/** What is promised: a token that was revoked anywhere is good for nothing after this long. */
const PROMISE_MS = 1_000

test('a gateway whose listening connection hangs refuses within a second what another one revoked', async () => {
  await using server = await startPostgres()
  await using open = new AsyncDisposableStack()
  const url = await server.createDatabase()
  const gateway = async () => {
    const store = await openStore({ url })
    open.defer(() => store.close())
    const opened = await openGateway(optionsOf(store, []))
    open.defer(() => opened.close(0))
    return opened
  }
  const other = await gateway()
  const heard = await listenerPids(url)
  const deaf = await gateway()
  const hung = (await listenerPids(url)).filter((pid) => !heard.includes(pid))
  expect(hung).toHaveLength(1)
  const admin = await signInByLink(other)
  const tokens: { token: string; id: string }[] = []
  for (const name of ['called', 'connected']) {
    const { structuredContent = {} } = await callTool(other.url, admin, 'token.create', { role: 'judge', name })
    tokens.push({ token: String(structuredContent['token']), id: String(structuredContent['id']) })
  }
  const [called, connected] = tokens
  if (called === undefined || connected === undefined) throw new Error('two tokens were asked for')
  const socket = await TestSocket.open(deaf.ws, connected.token)
  expect((await request(deaf.url, called.token, 'tools/list')).status).toBe(200)

  for (const pid of hung) process.kill(pid, 'SIGSTOP')
  // A stopped process takes no signal, so the server could not end.
  open.defer(() => {
    for (const pid of hung) resume(pid)
  })
  for (const { id } of tokens) await callTool(other.url, admin, 'token.revoke', { id })
  const revokedAt = performance.now()
  let lastGoodAt = 0
  for (;;) {
    const askedAt = performance.now() - revokedAt
    const { status, body } = await request(deaf.url, called.token, 'tools/list')
    if (status !== 200) {
      expect(body.error?.code).toBe('revoked_token')
      break
    }
    lastGoodAt = askedAt
  }
  expect(lastGoodAt).toBeLessThan(PROMISE_MS)
  expect(await socket.closed).toMatchObject({ reason: 'revoked_token' })
  // The connection is replaced, and what is revoked then is heard again.
  await expect
    .poll(async () => (await listenerPids(url)).filter((pid) => !heard.includes(pid) && !hung.includes(pid)))
    .toHaveLength(1)
  expect((await request(deaf.url, admin, 'tools/list')).status).toBe(200)
})

function resume(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It is gone already.
  }
}
