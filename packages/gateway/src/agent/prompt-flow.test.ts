import { expect, test } from 'vitest'
import { keeping } from '../fixture/keeping.ts'
import { TestHost } from '../fixture/test-host.ts'
import { type TestGateway, callTool, mint, openTestGateway } from '../fixture/test-gateway.ts'

const kept = keeping()

type Answer = Record<string, unknown>
const contentOf = async (reply: ReturnType<TestGateway['admin']>): Promise<Answer> => (await reply).structuredContent ?? {}
const errorOf = async (reply: ReturnType<TestGateway['admin']>) => (await reply)._meta?.['parley/error']
const promptIn = (answer: Answer): Answer => answer['prompt'] as Answer

async function localAt(gw: TestGateway, more: object = {}): Promise<string> {
  return String((await contentOf(gw.admin('agent.create', { kind: 'local', model: 'small', ...more })))['agent_id'])
}

test('fault 15: what an agent is told is answered in order by the host that holds it, and whoever waits is told the end', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const agent_id = await localAt(gw)
  const running = contentOf(gw.admin('agent.run', { agent_id, text: 'one' }))
  const claim = await host.claim()
  const first = (await host.call('host.next_prompt', claim))['prompt'] as Answer
  expect(first).toMatchObject({ number: 1, text: 'one', by: 'admin', resumed: false, aborting: false })
  const second = promptIn(await contentOf(gw.admin('agent.prompt', { agent_id, text: 'two \u0000' })))
  expect(second).toMatchObject({ number: 2, status: 'queued', text: 'two \u0000', started_at: null })
  expect(await contentOf(gw.admin('agent.get', { agent_id }))).toMatchObject({
    kind: 'local',
    status: 'awake',
    turn: { running: first['prompt_id'], queued: 1 },
  })
  const outcome = { status: 'completed', code: null, message: 'did it \u0000' }
  await host.call('host.end_prompt', { ...claim, prompt_id: first['prompt_id'], outcome })
  expect(await running).toMatchObject({
    ended: true,
    prompt: { status: 'completed', outcome: { code: null, message: 'did it \u0000' } },
  })
  // What waits is told as soon as nothing is answered any more.
  await expect.poll(() => host.told('host_control')).toContainEqual({ ...claim, action: 'prompt' })
  const next = (await host.call('host.next_prompt', claim))['prompt'] as Answer
  expect(next).toMatchObject({ prompt_id: second['prompt_id'], number: 2 })
  const waited = contentOf(gw.admin('agent.wait', { agent_id, prompt_id: next['prompt_id'], wait_ms: 0 }))
  expect(await waited).toMatchObject({ ended: false, prompt: { status: 'running' } })
  await expect(
    host.call('host.end_prompt', { ...claim, prompt_id: first['prompt_id'], outcome: { ...outcome, status: 'failed' } }),
  ).rejects.toThrow('conflict')
  await host.call('host.end_prompt', { ...claim, prompt_id: next['prompt_id'], outcome })
  expect(await host.call('host.next_prompt', claim)).toEqual({ prompt: null })
  const listed = await contentOf(gw.admin('agent.prompts', { agent_id, limit: 1 }))
  expect(listed).toMatchObject({ items: [{ number: 2 }], next_before: 2 })
  expect(await contentOf(gw.admin('agent.prompts', { agent_id, before: 2 }))).toMatchObject({
    items: [{ number: 1 }],
    next_before: null,
  })
})

test('fault 14: an abort is told to the host, also to the one that comes after it, and takes back what waits if asked', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw, 'h1'))
  const agent_id = await localAt(gw)
  for (const text of ['one', 'two']) await gw.admin('agent.prompt', { agent_id, text })
  const claim = await host.claim()
  const first = (await host.call('host.next_prompt', claim))['prompt'] as Answer
  expect(await contentOf(gw.admin('agent.abort', { agent_id, queued: true }))).toEqual({
    agent_id,
    aborting: first['prompt_id'],
    withdrawn: 1,
    rest_ended: false,
  })
  await expect.poll(() => host.told('host_control')).toContainEqual({ ...claim, action: 'abort' })
  expect(await contentOf(gw.admin('agent.wait', { agent_id, prompt_id: first['prompt_id'], wait_ms: 0 }))).toMatchObject({
    prompt: { aborting: true, status: 'running' },
  })
  await host.call('host.release', claim)
  const other = kept(await TestHost.open(gw, 'h2'))
  const next = await other.claim()
  expect(await other.call('host.next_prompt', next)).toMatchObject({ prompt: { resumed: true, aborting: true } })
  const outcome = { status: 'interrupted', code: null, message: '' }
  await expect(host.call('host.end_prompt', { ...claim, prompt_id: first['prompt_id'], outcome })).rejects.toThrow('lease_lost')
  await other.call('host.end_prompt', { ...next, prompt_id: first['prompt_id'], outcome })
  expect((await contentOf(gw.admin('agent.prompts', { agent_id })))['items']).toMatchObject([
    { status: 'withdrawn', aborting: false },
    { status: 'interrupted', aborting: false },
  ])
})

test('an external agent takes no turns, one without a model none either, and nobody tells an agent of somebody else', async () => {
  const gw = kept(await openTestGateway())
  const external = String((await contentOf(gw.admin('agent.create', { name: 'out' })))['agent_id'])
  expect(await errorOf(gw.admin('agent.prompt', { agent_id: external, text: 'x' }))).toMatchObject({ code: 'conflict' })
  expect(await errorOf(gw.admin('agent.fork', { agent_id: external }))).toMatchObject({ code: 'conflict' })
  const bare = String((await contentOf(gw.admin('agent.create', { kind: 'local' })))['agent_id'])
  expect(await errorOf(gw.admin('agent.run', { agent_id: bare, text: 'x' }))).toMatchObject({
    code: 'conflict',
    hint: expect.stringContaining('agent.update'),
  })
  await gw.admin('user.add', { username: 'eve' })
  const { token } = await mint(gw, { role: 'user', username: 'eve' })
  const agent_id = await localAt(gw)
  const { prompt_id } = promptIn(await contentOf(gw.admin('agent.prompt', { agent_id, text: 'x' })))
  for (const [tool, more] of [
    ['agent.prompt', { text: 'x' }],
    ['agent.run', { text: 'x' }],
    ['agent.wait', { prompt_id }],
    ['agent.prompts', {}],
    ['agent.abort', {}],
    ['agent.fork', {}],
    ['agent.read_log', { log: 'transcript' }],
  ] as const)
    expect({ tool, error: await errorOf(callTool(gw.gateway.url, token, tool, { agent_id, ...more })) }).toMatchObject({
      tool,
      error: { code: 'not_found', field: 'agent_id' },
    })
  // A prompt of another agent is not there either.
  const other = await localAt(gw)
  expect(await errorOf(gw.admin('agent.wait', { agent_id: other, prompt_id, wait_ms: 0 }))).toMatchObject({
    code: 'not_found',
    field: 'prompt_id',
  })
})

test('whoever waits for an answer of an agent that is deleted is told that it is gone', async () => {
  const gw = kept(await openTestGateway())
  const agent_id = await localAt(gw)
  const waiting = errorOf(gw.admin('agent.run', { agent_id, text: 'x' }))
  await expect.poll(async () => (await contentOf(gw.admin('agent.get', { agent_id })))['turn']).toMatchObject({ queued: 1 })
  await gw.admin('agent.delete', { agent_id })
  expect(await waiting).toMatchObject({ code: 'not_found', field: 'agent_id' })
})

test('a transcript is written under the claim, read by lines from any of their ends, and forked there', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  const agent_id = await localAt(gw, { name: 'writer', instructions: 'Write.' })
  await gw.admin('mount.attach', {
    agent_id,
    name: 'web',
    server: { kind: 'http', url: 'https://example.com/', headers: [{ name: 'k', value: 'hunter2' }] },
  })
  await gw.admin('agent.prompt', { agent_id, text: 'x' })
  const claim = await host.claim()
  const lines = ['{"type":"message","text":"é"}', '{"type":"message","text":"two"}', '{"type":"message","text":"three"}']
  const [first = '', second = ''] = lines
  expect(await host.call('host.append_transcript', { ...claim, offset: 0, lines: lines.slice(0, 2) })).toMatchObject({ ok: true })
  const begun = Buffer.byteLength(`${first}\n${second}\n`)
  expect(await host.call('host.append_transcript', { ...claim, offset: begun, lines: lines.slice(2) })).toMatchObject({
    ok: true,
  })
  expect(await host.call('host.append_transcript', { ...claim, offset: 1, lines })).toMatchObject({ ok: false })
  const read = await contentOf(gw.admin('agent.read_log', { agent_id, log: 'transcript' }))
  expect(read).toMatchObject({ offset: 0, lines: lines.map((line) => ({ line })) })
  expect(read['next_offset']).toBe(read['end'])
  const ends = (read['lines'] as { next_offset: number }[]).map((line) => line.next_offset)
  const [afterFirst = 0, afterSecond = 0] = ends
  expect(
    await contentOf(gw.admin('agent.read_log', { agent_id, log: 'transcript', offset: afterFirst, max_bytes: 1 })),
  ).toMatchObject({
    lines: [{ line: second, next_offset: afterSecond }],
  })
  for (const offset of [1, 10_000])
    expect(await errorOf(gw.admin('agent.read_log', { agent_id, log: 'transcript', offset }))).toMatchObject({
      code: 'invalid_argument',
      field: 'offset',
    })
  expect(await host.call('host.read_transcript', { ...claim, offset: afterFirst })).toMatchObject({ lines: lines.slice(1) })

  const forked = await contentOf(gw.admin('agent.fork', { agent_id, offset: afterSecond }))
  expect(forked).toMatchObject({
    name: 'writer-2',
    kind: 'local',
    instructions: 'Write.',
    mounts: 1,
    turn: { running: null, queued: 0 },
  })
  const known = await contentOf(gw.admin('agent.read_log', { agent_id: forked['agent_id'], log: 'transcript' }))
  const knownLines = (known['lines'] as { line: string }[]).map(({ line }) => line)
  expect(knownLines.slice(0, -1)).toEqual([first, second])
  expect(JSON.parse(knownLines.at(-1) ?? '')).toMatchObject({ type: 'forked', agent_id, offset: afterSecond })
  expect(await errorOf(gw.admin('agent.fork', { agent_id, offset: 3 }))).toMatchObject({
    code: 'invalid_argument',
    field: 'offset',
  })
  // What the fork mounts is opened for it as for the other.
  await gw.admin('agent.prompt', { agent_id: forked['agent_id'], text: 'x' })
  const held = await host.claim()
  expect(await host.call('host.agent_get', held)).toMatchObject({
    agent_id: forked['agent_id'],
    mounts: [{ name: 'web', server: { headers: [{ name: 'k', value: 'hunter2' }] } }],
  })
})

test('a folder of a host is for those who were granted it, and no longer when that is taken back', async () => {
  const gw = kept(await openTestGateway())
  const host = kept(await TestHost.open(gw))
  expect(await errorOf(gw.admin('agent.create', { kind: 'local', model: 'm', folder: '/srv/x' }))).toMatchObject({
    code: 'forbidden',
    field: 'folder',
  })
  await gw.admin('grant.set', { username: 'admin', folders: ['/srv'] })
  const agent_id = await localAt(gw, { folder: '/srv/x' })
  await gw.admin('agent.prompt', { agent_id, text: 'x' })
  const claim = await host.claim()
  expect(await host.call('host.agent_get', claim)).toMatchObject({
    folder: '/srv/x',
    folder_refused: null,
    folder_granted: '/srv/',
    transcript_offset: 0,
  })
  await gw.admin('grant.set', { username: 'admin', folders: [] })
  expect(await host.call('host.agent_get', claim)).toMatchObject({
    folder_refused: expect.stringContaining('(parley grant set USER --folder /srv'),
  })
  expect(await errorOf(gw.admin('agent.update', { agent_id, folder: '/srv/y' }))).toMatchObject({ code: 'forbidden' })
  expect(await contentOf(gw.admin('agent.update', { agent_id, folder: null }))).toMatchObject({ folder: null })
})
