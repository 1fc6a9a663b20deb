import { ENGINES, execute, startEngine } from '@parley/store/testing'
import { describe, expect, test } from 'vitest'
import { addJob, addUser } from '../fixture/test-job.ts'
import { type ToolReply, callTool, mint, openTestGateway, request } from '../fixture/test-gateway.ts'
import { TestSocket } from '../fixture/wires.ts'

const failure = (reply: ToolReply) => reply._meta?.['parley/error']

test('a promoted user comes back with all rights, a demoted one without', async () => {
  await using gw = await openTestGateway()
  const ada = await addUser(gw, 'ada')
  const asAda = async () => (await callTool(gw.gateway.url, ada.token, 'account.get')).structuredContent?.['admin']
  const socket = await TestSocket.open(gw.gateway.ws, ada.token)
  expect((await gw.admin('user.promote', { username: 'ada' })).structuredContent).toMatchObject({ user: { admin: true } })
  await socket.closed
  expect(await asAda()).toBe(true)
  const again = await TestSocket.open(gw.gateway.ws, ada.token)
  expect((await gw.admin('user.demote', { username: 'ada' })).structuredContent).toMatchObject({ user: { admin: false } })
  await again.closed
  expect(await asAda()).toBe(false)
})

test('a deleted account is gone: its name, tokens, sign-ins, connections and waiting jobs; what ended stays for admins', async () => {
  await using gw = await openTestGateway()
  const ada = await addUser(gw, 'ada')
  const [waits, ended] = [await addJob(gw.store, ada.id), await addJob(gw.store, ada.id)]
  await gw.store.jobs.start(waits)
  await gw.store.jobs.cancel(ended)
  await gw.admin('user.set_quota', { username: 'ada', jobs_at_once: 3 })
  const socket = await TestSocket.open(gw.gateway.ws, ada.token)
  expect((await gw.admin('user.delete', { username: 'ada' })).structuredContent).toEqual({
    user_id: ada.id,
    username: 'ada',
    cancelled_jobs: 1,
  })
  expect(await socket.closed).toMatchObject({ code: 1008 })
  expect((await request(gw.gateway.url, ada.token, 'tools/list')).body.error?.code).toBe('revoked_token')
  for (const job_id of [waits, ended])
    expect((await gw.admin('job.get_state', { job_id })).structuredContent).toMatchObject({ status: 'cancelled' })
  for (const tool of ['user.delete', 'user.enable', 'user.promote', 'user.link'])
    expect(failure(await gw.admin(tool, { username: 'ada' }))).toMatchObject({ code: 'not_found' })
  expect((await gw.admin('user.list')).structuredContent).toMatchObject({ items: [{ username: 'admin' }] })
  await expect(addJob(gw.store, ada.id)).rejects.toMatchObject({ code: 'not_found' })

  // The name is free, and whoever has it next has nothing of the one before.
  const next = await addUser(gw, 'ada')
  expect(next.id).not.toBe(ada.id)
  expect((await callTool(gw.gateway.url, next.token, 'job.list')).structuredContent).toMatchObject({ items: [] })
  const { quota } = (await callTool(gw.gateway.url, next.token, 'usage.summary')).structuredContent ?? {}
  expect(quota).toMatchObject({ jobs_at_once: { limit: null } })
})

test('nobody ends their own rights, and the last admin stays', async () => {
  await using gw = await openTestGateway()
  for (const tool of ['user.delete', 'user.demote'])
    expect(failure(await gw.admin(tool, { username: 'admin' }))).toMatchObject({
      code: 'conflict',
      message: 'admin is your own account',
      hint: expect.stringContaining('another admin'),
    })
  expect(failure(await gw.admin('user.disable', { username: 'admin' }))).toMatchObject({
    code: 'conflict',
    hint: expect.stringContaining('user.promote'),
  })
})

describe.each(ENGINES)('on %s', (engine) => {
  test('a deletion that died half-way leaves no job to any judge: the next start cancels them', async () => {
    await using host = await startEngine(engine)
    const url = await host.migratedUrl()
    await using gw = await openTestGateway({}, url)
    const ada = await addUser(gw, 'ada')
    const left = [await addJob(gw.store, ada.id), await addJob(gw.store, ada.id)]
    for (const id of left) await gw.store.jobs.start(id)
    await execute(url, `UPDATE users SET deleted_at = 1, disabled = 1, username = 'gone' WHERE id = $1`, [ada.id])
    const { url: again } = await gw.restart()
    const { token } = await mint(gw, { role: 'judge', name: 'j1' })
    const asked = await callTool(again, token, 'judge.claim_next', { machine_id: 'm1', wait_ms: 0 })
    expect(asked.structuredContent).toMatchObject({ claimed: false })
    for (const id of left) await expect.poll(async () => (await gw.store.jobs.byId(id))?.status).toBe('cancelled')
  })

  test('admins who take each other away at once, each in another way: one stays', async () => {
    await using host = await startEngine(engine)
    await using gw = await openTestGateway({}, await host.migratedUrl())
    const names = ['ada', 'bob', 'cyd']
    for (const username of names) await gw.admin('user.add', { username, admin: true })
    const callers = await Promise.all(names.map((username) => mint(gw, { role: 'user', username })))
    const ways = ['user.delete', 'user.demote', 'user.disable']
    // Each ends the next one and the first admin; whoever was ended meanwhile is refused.
    await Promise.allSettled(
      callers.flatMap(({ token }, index) =>
        [names[(index + 1) % names.length], 'admin'].map((username) =>
          callTool(gw.gateway.url, token, ways[index] ?? '', { username }),
        ),
      ),
    )
    const active = (await gw.store.users.list({ limit: 10 })).filter((user) => user.admin && !user.disabled)
    expect(active.length).toBeGreaterThanOrEqual(1)
  })
})
