import { createLogger } from '@parley/access'
import { request } from 'node:http'
import { stat } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ONE_CASE_ZIP } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { callTool, openTestGateway } from './fixture/test-gateway.ts'
import { openLocalAdmin } from './local-admin.ts'

test('what is handed in through the socket belongs to the oldest admin, whoever that is by then', async () => {
  const adminSocket = join('/tmp', `parley-test-${process.pid}-${randomBytes(4).toString('hex')}.sock`)
  await using gw = await openTestGateway({ adminSocket })
  const local = async (name: string, args: object) => {
    const answer = await overSocket(adminSocket, { name, arguments: args })
    return (answer as { result: { structuredContent: Record<string, unknown> } }).result.structuredContent
  }
  const make = async () => String((await local('job.create', { current_code: 'x', tests_zip_b64: ONE_CASE_ZIP }))['job_id'])
  const first = await make()
  expect(await local('job.get_state', { job_id: first })).toMatchObject({ owner: 'admin' })
  const mine = await gw.admin('job.list', { owner_user_id: (await gw.store.users.byName('admin'))?.id })
  expect(mine.structuredContent?.['items']).toMatchObject([{ job_id: first, owner: 'admin', waiting: null }])
  const audited = await gw.store.audit.search({ action: 'job.create', limit: 10 })
  expect(new Set(audited.map(({ actor, remote }) => `${actor} ${remote}`))).toEqual(new Set(['local local']))
  expect(await local('job.cancel', { job_id: first })).toMatchObject({ status: 'cancelled' })
  const error = { code: 'cancelled', message: 'cancelled by admin', by: 'admin' }
  expect(await local('job.get_state', { job_id: first })).toMatchObject({ error })
  // Disabling the account behind the socket takes the socket from nobody: it is the next admin's from then on.
  await local('user.add', { username: 'ada', admin: true })
  await local('user.disable', { username: 'admin' })
  expect(await local('job.get_state', { job_id: await make() })).toMatchObject({ owner: 'ada' })
})

test('whoever may open the admin socket is an admin called local, and nobody else may open it', async () => {
  const adminSocket = join('/tmp', `parley-test-${process.pid}-${randomBytes(4).toString('hex')}.sock`)
  await using gw = await openTestGateway({ adminSocket })
  expect((await stat(adminSocket)).mode & 0o777).toBe(0o600)
  const answer = await overSocket(adminSocket, { name: 'user.add', arguments: { username: 'ada' } })
  expect(answer).toMatchObject({ result: { structuredContent: { user: { username: 'ada' } } } })
  const admin = await gw.store.users.byName('admin')
  expect(await overSocket(adminSocket, { name: 'account.get' })).toMatchObject({
    result: {
      structuredContent: {
        role: 'user',
        admin: true,
        name: 'local',
        user_id: admin?.id,
        username: 'admin',
        token_id: null,
        expires_at: null,
      },
    },
  })
  expect(
    await overSocket(adminSocket, {
      name: 'account.passwd',
      arguments: { current_password: '', new_password: 'long enough for it' },
    }),
  ).toMatchObject({
    result: { isError: true, _meta: { 'parley/error': { code: 'forbidden' } } },
  })
  const { structuredContent } = await gw.admin('audit.search', { actor: 'local', action: 'user.add' })
  expect(structuredContent?.['items']).toMatchObject([{ target: 'ada', role: 'admin', remote: 'local' }, { code: 'begun' }])
})

test('the same tools run on a store without a gateway, and a running gateway hears of it', async () => {
  await using gw = await openTestGateway()
  const log = createLogger({ level: 'silent', destination: { write: () => undefined } })
  const local = openLocalAdmin({ store: gw.store, baseUrl: gw.gateway.url, log, now: Date.now, random: randomBytes })
  const { token, id } = await local.call('token.create', { role: 'judge', name: 'j1' })
  expect((await callTool(gw.gateway.url, token, 'account.get')).structuredContent).toMatchObject({ name: 'j1' })
  await local.call('token.revoke', { id })
  await expect(callTool(gw.gateway.url, token, 'account.get')).rejects.toThrow('revoked_token')
  await expect(local.call('user.disable', { username: 'admin' })).rejects.toMatchObject({ code: 'conflict' })
  await expect(local.call('token.revoke', { id: `tok_${'0'.repeat(26)}` })).rejects.toMatchObject({
    code: 'not_found',
    field: 'id',
  })
  await local.close()
  expect(await gw.store.audit.search({ actor: 'local', action: 'token.revoke', limit: 10 })).toHaveLength(4)
})

function overSocket(socketPath: string, params: object): Promise<unknown> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      ...params,
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} },
    },
  })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'name' in params ? String(params.name) : '',
  }
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/mcp', method: 'POST', headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += String(chunk)))
      response.on('end', () => resolve(JSON.parse(text)))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
