import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { messageOf } from '@parley/protocol'
import { AgentBench, said, SDK_SERVER, stdio, toolsOf } from '../fixture/agent-bench.ts'
import { MANY_PROCESSES } from '../fixture/parley.ts'
import { shell, say, TurnBench } from '../fixture/turn-bench.ts'

test('a link in a granted folder leads no program and no agent into another person’s', MANY_PROCESSES, async () => {
  await using bench = await TurnBench.open()
  const { gateway, scratch } = bench.agents
  const root = join(scratch.folder, 'root')
  const alices = join(root, 'alice')
  for (const name of ['alice/inner', 'bob']) mkdirSync(join(root, name), { recursive: true })
  writeFileSync(join(root, 'bob', 'secret'), 'bob’s')
  symlinkSync('../bob', join(alices, 'to-bob'))
  symlinkSync('inner', join(alices, 'to-inner'))
  await gateway.call('user.add', { username: 'alice' })
  await gateway.call('grant.set', { username: 'alice', folders: [alices] })
  const alice = await bench.agents.user('alice')
  await bench.agents.host('one', '--root', root)
  const { agent_id } = await alice('agent.create', { name: 'hers', kind: 'local', model: 'm' })
  const args = ['-c', 'HERE="$(pwd -P)" exec "$0" "$1"', process.execPath, SDK_SERVER]
  for (const name of ['to-bob', 'to-inner'])
    await alice('mount.attach', { agent_id, name, server: stdio({ command: '/bin/sh', args, folder: join(alices, name) }) })
  const client = await bench.agents.connect((await alice('agent.token', { agent_id })).token)
  await expect.poll(() => toolsOf(client, 'to-inner'), { timeout: 60_000 }).toContain('to-inner_env')
  expect(JSON.parse(await said(client, 'to-inner_env'))).toMatchObject({ HERE: join(alices, 'inner') })
  const errorOf = async () =>
    (await alice('mount.list', { agent_id })).items.find(({ name }) => name === 'to-bob')?.state?.error ?? ''
  await expect.poll(errorOf, { timeout: 60_000 }).toContain('a link leads out of the folder that was granted')
  await alice('agent.update', { agent_id, folder: join(alices, 'to-bob') })
  bench.play(shell('cat secret'), say('Read.'))
  const { prompt } = await alice('agent.prompt', { agent_id, text: 'read it' })
  expect(await bench.ended(prompt)).toMatchObject({
    status: 'failed',
    outcome: { code: 'folder_refused', message: expect.stringContaining('a link leads out of the folder that was granted') },
  })
})

test(
  'an address that is not public is reached no more when that is taken back, and again when it is granted',
  MANY_PROCESSES,
  async () => {
    await using bench = await AgentBench.open()
    const { gateway, scratch } = bench
    const proxy = await scratch.start(['proxy', '--port', '0', '--no-auth', '--json', '--', process.execPath, SDK_SERVER])
    await bench.host('one')
    const id = await bench.agent('mine', { far: { kind: 'http', url: proxy.ready.mcp } })
    const client = await bench.as(id)
    await expect.poll(() => toolsOf(client, 'far'), { timeout: 60_000 }).toContain('far_pid')
    const call = (): Promise<string> => said(client, 'far_pid').catch(messageOf)
    const pid = await call()
    expect(pid).toMatch(/^\d+$/)
    await gateway.call('grant.set', { username: 'admin', private_http: false })
    await expect.poll(call, { timeout: 30_000 }).not.toMatch(/^\d+$/)
    const errors = async () => {
      // It is dialled when it is needed.
      await toolsOf(client, 'far')
      return (await gateway.call('mount.list', { agent_id: id })).items.map(({ state }) => state?.error)
    }
    await expect.poll(errors, { timeout: 30_000 }).toEqual([expect.stringContaining('is not a public address')])
    await gateway.call('grant.set', { username: 'admin', private_http: true })
    await expect.poll(call, { timeout: 60_000 }).toMatch(/^\d+$/)
  },
)
