import { join } from 'node:path'
import { connectClient, webSocketTransport } from '@parley/rpc'
import { startPostgres } from '@parley/store/testing'
import { expect, test } from 'vitest'
import { MANY_PROCESSES, Scratch } from '../../fixture/parley.ts'
import { commandsHere } from '../../fixture/run-here.ts'

test(
  'on PostgreSQL two gateways share accounts, and a token revoked at the database is cut off at both',
  MANY_PROCESSES,
  async () => {
    await using postgres = await startPostgres()
    await using scratch = new Scratch()
    const here = commandsHere(scratch)
    const at = ['--database', postgres.url, '--data', scratch.data]
    const first = await scratch.start(['gateway', '--port', '0', '--json', ...at])
    const second = await scratch.start(['gateway', '--port', '0', '--json', ...at])
    await scratch.json(['user', 'add', 'bob', ...at])
    const made = await here.json(['token', 'create', '--role', 'user', '--user', 'bob', ...at])
    const clients = await Promise.all(
      [first, second].map(({ ready }) =>
        connectClient(webSocketTransport({ url: ready.ws, token: made.token }), { clientInfo: { name: 'test', version: '1' } }),
      ),
    )
    for (const client of clients) expect(await client.callTool('account.get', {})).toMatchObject({ name: 'bob' })
    await here.json(['token', 'revoke', made.id, ...at])
    await Promise.all(clients.map((client) => client.closed))

    const { checks } = await scratch.json(['doctor', '--port', '0', ...at])
    expect(checks).toContainEqual({ name: 'database', status: 'ok', detail: 'PostgreSQL answers' })

    // A backup of one engine goes into the other.
    const { file } = await scratch.json(['backup', 'copy.db', ...at])
    const other = join(scratch.folder, 'other')
    await here.json(['restore', file, '--data', other])
    expect(await here.json(['user', 'list', '--data', other])).toMatchObject({
      items: [{ username: 'admin' }, { username: 'bob' }],
    })
  },
)

test('a database that does not answer is an error without its password', async () => {
  await using scratch = new Scratch()
  const url = 'postgres://me:very-secret@127.0.0.1:1/none'
  const started = await scratch.run(['up', '--port', '0', '--database', url, '--data', scratch.data, '--json'])
  expect(JSON.parse(started.err)).toMatchObject({ error: { code: 'unavailable', hint: expect.stringContaining('--database') } })
  const { out } = await scratch.run(['doctor', '--port', '0', '--database', url, '--data', scratch.data, '--json'])
  expect(JSON.parse(out).checks).toContainEqual(expect.objectContaining({ name: 'database', status: 'failed' }))
  expect(started.err + out).not.toContain('very-secret')
})
