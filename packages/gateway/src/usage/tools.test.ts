import { type JobId, NO_PRICES, NO_TOKENS, TOOLS, type UsageEvent, type UserId } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addJob, addUser } from '../fixture/test-job.ts'
import { type TestGateway, type ToolReply, callTool, listIn, openTestGateway } from '../fixture/test-gateway.ts'

const failure = (reply: ToolReply) => reply._meta?.['parley/error']
const ids = (reply: ToolReply) => listIn<UsageEvent>(reply.structuredContent, 'items').map(({ call_id }) => call_id)

async function book(gw: TestGateway, ownerId: UserId, jobId: JobId, callId: string, cost: number | null): Promise<void> {
  await gw.store.usages.add({
    agentId: null,
    prompt: null,
    jobId,
    ownerId,
    claimId: 'claim',
    claim: 1,
    attempt: 2,
    callId,
    channel: 'main',
    model: 'gpt-a',
    threadId: null,
    estimated: false,
    tokens: { ...NO_TOKENS, input_tokens: 100, cached_input_tokens: 40, output_tokens: 20 },
    prices: cost === null ? null : { ...NO_PRICES, input_microusd_per_1m_tokens: 1, output_microusd_per_1m_tokens: 1 },
    costMicrousd: cost,
  })
}

describe.each(ENGINES)('usage on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  test('people see their own calls, an admin everybody’s or one person’s', async () => {
    let now = Date.UTC(2026, 10, 3, 12)
    await using gw = await openTestGateway({ quota: { tokensPerDay: 1_000 } }, await host.migratedUrl(), () => now)
    const ada = await addUser(gw, 'ada')
    const bob = await addUser(gw, 'bob')
    const [one, two, three] = [await addJob(gw.store, ada.id), await addJob(gw.store, ada.id), await addJob(gw.store, bob.id)]
    for (const [owner, job, callId, cost] of [
      [ada.id, one, 'a1', 280],
      [ada.id, two, 'a2', null],
      [bob.id, three, 'b1', 5],
    ] as const) {
      await book(gw, owner, job, callId, cost)
      now += 1_000
    }
    const as = (token: string) => async (name: 'usage.summary' | 'usage.events', args: object) => {
      const reply = await callTool(gw.gateway.url, token, name, args)
      if (reply.structuredContent !== undefined)
        expect(TOOLS[name].output.parse(reply.structuredContent)).toEqual(reply.structuredContent)
      return reply
    }
    const [asAda, asBob, asAdmin] = [as(ada.token), as(bob.token), as(gw.adminToken)]

    const mine = (await asAda('usage.summary', { group_by: 'job' })).structuredContent
    expect(mine).toMatchObject({
      total: { calls: 2, unpriced_calls: 1, estimated_calls: 0, input_tokens: 200, cost_microusd: 280 },
      quota: { tokens_per_day: { limit: 1_000 } },
    })
    expect(listIn<{ key: string; calls: number }>(mine, 'groups').map(({ key, calls }) => [key, calls])).toEqual([
      [one, 1],
      [two, 1],
    ])
    expect((await asAda('usage.summary', { owner_user_id: bob.id })).structuredContent).toMatchObject({
      total: { calls: 0, cost_microusd: 0 },
      groups: [],
    })
    expect((await asAdmin('usage.summary', { group_by: 'user' })).structuredContent).toMatchObject({
      total: { calls: 3, cost_microusd: 285 },
      groups: [{ key: ada.id }, { key: bob.id }],
    })
    await gw.admin('user.set_quota', { username: 'bob', tokens_per_day: 77 })
    expect((await asAdmin('usage.summary', { owner_user_id: bob.id })).structuredContent).toMatchObject({
      total: { calls: 1 },
      groups: [{ key: '2026-11-03' }],
      quota: { tokens_per_day: { limit: 77 } },
    })

    expect((await asAda('usage.events', { job_id: one })).structuredContent).toEqual({
      items: [
        {
          id: expect.stringMatching(/^usg_/),
          at: '2026-11-03T12:00:00.000Z',
          job_id: one,
          agent_id: null,
          prompt: null,
          owner_user_id: ada.id,
          claim: 1,
          attempt: 2,
          call_id: 'a1',
          upstream_channel: 'main',
          model: 'gpt-a',
          source: 'judge',
          estimated: false,
          cost_microusd: 280,
          prices: { ...NO_PRICES, input_microusd_per_1m_tokens: 1, output_microusd_per_1m_tokens: 1 },
          ...NO_TOKENS,
          input_tokens: 100,
          cached_input_tokens: 40,
          output_tokens: 20,
        },
      ],
      next: null,
    })
    expect(ids(await asAda('usage.events', {}))).toEqual(['a2', 'a1'])
    expect(ids(await asAda('usage.events', { owner_user_id: bob.id }))).toEqual([])
    expect(ids(await asAdmin('usage.events', {}))).toEqual(['b1', 'a2', 'a1'])
    expect(ids(await asAdmin('usage.events', { owner_user_id: ada.id }))).toEqual(['a2', 'a1'])
    const first = await asAdmin('usage.events', { limit: 2 })
    expect(ids(await asAdmin('usage.events', { limit: 2, before: first.structuredContent?.['next'] }))).toEqual(['a1'])
    const from = '2026-11-03T12:00:01.000Z'
    expect(ids(await asAdmin('usage.events', { from, to: '2026-11-03T12:00:02.000Z' }))).toEqual(['a2'])

    for (const tool of ['usage.events', 'usage.summary'] as const) {
      expect(failure(await asAda(tool, { from, to: from }))).toMatchObject({ code: 'invalid_argument', field: 'to' })
      expect(failure(await asAda(tool, { from: 'yesterday' }))).toMatchObject({ code: 'invalid_argument', field: 'from' })
    }
    expect(failure(await asBob('usage.events', { job_id: one }))).toMatchObject({ code: 'not_found', field: 'job_id' })
    // What a job used outlives it, for its owner alone.
    await callTool(gw.gateway.url, ada.token, 'job.delete', { job_id: one })
    expect(ids(await asAda('usage.events', { job_id: one }))).toEqual(['a1'])
    expect(failure(await asBob('usage.events', { job_id: one }))).toMatchObject({ code: 'not_found', field: 'job_id' })
  })
})
