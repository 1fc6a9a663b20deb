import { ModelScript, TOOLS } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { RESPONSES_EVENTS, stream, text } from '@parley/models/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MODEL, UPSTREAM_KEY } from '../fixture/model-bench.ts'
import { callTool } from '../fixture/test-gateway.ts'
import { addUser } from '../fixture/test-job.ts'
import { TurnBench } from '../fixture/turn-bench.ts'

/** One answer comes to 110 tokens and, at the prices of the bench, to 110 micro-USD. */
const ONE = { max_output_tokens: 20 }
const NO_BOUNDS = { requests: null, tokens: null, microusd: null, wall_ms: null }

describe.each(ENGINES)('the turn of an agent on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())

  const open = async (options: Parameters<typeof TurnBench.open>[0] = {}): Promise<TurnBench> => {
    const bench = await TurnBench.open({ database: await host.migratedUrl(), ...options })
    bench.upstream.answer = (response) => stream(response).end(text(RESPONSES_EVENTS))
    return bench
  }

  test('gets a key, asks the model with it, and what that came to is the agent’s and its owner’s', async () => {
    await using bench = await open()
    const turn = await bench.turn()
    const { prepared } = turn
    expect(prepared).toEqual({
      base_url: `${bench.gw.gateway.url}/v1`,
      api_key: expect.stringMatching(/^mdl_[A-Za-z0-9_-]{43}$/),
      model: MODEL,
      upstream_channel: 'main',
      wire: 'responses',
      expires_at: expect.any(String),
      budget: NO_BOUNDS,
      prices: expect.objectContaining({ output_microusd_per_1m_tokens: 2_000_000 }),
      context_tokens: null,
      script: false,
    })
    expect(new Date(prepared.expires_at).getTime()).toBeGreaterThan(Date.now())
    expect(JSON.stringify(prepared)).not.toContain(UPSTREAM_KEY)
    expect(await (await turn.ask()).text()).toBe(text(RESPONSES_EVENTS))
    expect(bench.upstream.requests[0]?.headers.authorization).toBe(`Bearer ${UPSTREAM_KEY}`)
    const of = { jobId: null, agentId: turn.agentId, prompt: 1, ownerId: bench.owner.id, claimId: turn.claim.claim_id }
    expect(await turn.booked(1)).toMatchObject([
      { ...of, status: 'booked', source: 'proxy', estimated: false, channel: 'main', model: MODEL, costMicrousd: 110 },
    ])
    expect(bench.gw.logged.find((line) => line.includes('a model was asked'))).toContain(`"agent":"${turn.agentId}","prompt":1`)
    expect(bench.gw.logged.join('')).not.toContain(prepared.api_key)

    // It is there for who asks by the agent, and for its owner alone.
    const { gateway, adminToken } = bench.gw
    const summary = TOOLS['usage.summary'].output.parse(await bench.call('usage.summary', { group_by: 'agent' }))
    expect(summary).toMatchObject({ total: { calls: 1 }, groups: [{ key: turn.agentId, cost_microusd: 110 }] })
    const of_agent = { agent_id: turn.agentId }
    const { items } = TOOLS['usage.events'].output.parse(await bench.call('usage.events', of_agent))
    expect(items).toMatchObject([{ agent_id: turn.agentId, prompt: 1, job_id: null, claim: null, attempt: null }])
    expect(await bench.call('usage.summary', of_agent)).toMatchObject({ total: { calls: 1 } })
    const other = await bench.agent()
    expect(await bench.call('usage.summary', { agent_id: other })).toMatchObject({ total: { calls: 0 }, groups: [] })
    const { token } = await addUser(bench.gw, 'stranger')
    for (const tool of ['usage.summary', 'usage.events'])
      expect((await callTool(gateway.url, token, tool, of_agent))._meta?.['parley/error']).toMatchObject({
        code: 'not_found',
        field: 'agent_id',
      })
    expect((await callTool(gateway.url, adminToken, 'usage.events', of_agent)).structuredContent).toMatchObject({
      items: [{ agent_id: turn.agentId }],
    })

    // What an agent used outlives it, and its key does not.
    await bench.call('agent.delete', of_agent)
    expect((await turn.ask()).status).toBe(401)
    expect(await bench.call('usage.events', of_agent)).toMatchObject({ items: [{ agent_id: turn.agentId }] })
    expect((await callTool(gateway.url, token, 'usage.events', of_agent))._meta?.['parley/error']).toMatchObject({
      code: 'not_found',
    })
  })

  test('its budget is what is left of the turn, the day, all and the owner’s day, whichever is least', async () => {
    await using bench = await open({ gateway: { quota: { tokensPerDay: 700 } } })
    const budgets = {
      turn: { requests: 3, tokens: 400, wall_ms: 3_600_000 },
      day: { tokens: 350, microusd: 500 },
      all: { tokens: 10_000, microusd: 480 },
    }
    const turn = await bench.turn({ budgets })
    const { wall_ms: wallMs, ...left } = turn.prepared.budget
    expect(left).toEqual({ requests: 3, tokens: 350, microusd: 480 })
    expect(wallMs).toBeGreaterThan(3_000_000)
    expect(wallMs).toBeLessThanOrEqual(3_600_000)
    await (await turn.ask(ONE)).text()
    expect((await turn.prepare()).budget).toMatchObject({ requests: 2, tokens: 240, microusd: 370 })
    // Another turn has a budget of its own; the day and all go on.
    await turn.end()
    const next = await bench.begin(turn.agentId, turn.claim)
    expect((await next.prepare()).budget).toMatchObject({ requests: 3, tokens: 240, microusd: 370 })
    await (await next.ask(ONE)).text()
    await (await next.ask(ONE)).text()
    expect((await next.prepare()).budget).toMatchObject({ requests: 1, tokens: 20 })
    // What is less than one call needs is refused there, and names its bound.
    const refused = await next.ask(ONE)
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      {
        error: { code: 'budget_exceeded', message: expect.stringMatching(/budgets\.day\.tokens: 330 of 350 tokens .*resets_at/) },
      },
    ])
    await bench.call('agent.update', { agent_id: turn.agentId, budgets: { ...budgets, day: { tokens: 330 } } })
    expect(await next.refused()).toMatchObject({
      code: 'quota_exceeded',
      message: expect.stringMatching(/^budgets\.day\.tokens: 330 of 330 tokens of the agent’s day .*T00:00:00\.000Z$/),
      hint: expect.stringContaining('agent.update'),
    })
    const refusedBy = async (changed: object) => {
      await bench.call('agent.update', { agent_id: turn.agentId, budgets: changed })
      return ((await next.refused()) as { message: string }).message
    }
    expect(await refusedBy({ all: { microusd: 330 }, day: { tokens: 1 } })).toBe(
      'budgets.all.microusd: 330 of 330 micro-USD of all that the agent may use are used or set aside',
    )
    expect(await refusedBy({ turn: { tokens: 220 } })).toBe(
      'budgets.turn.tokens: 220 of 220 tokens of the turn are used or set aside',
    )
    expect(await refusedBy({ turn: { requests: 2 } })).toBe('budgets.turn.requests: 2 of 2 requests of the turn are used')
    expect(await refusedBy({ turn: { wall_ms: 1 } })).toMatch(/^budgets\.turn\.wall_ms: \d+ of 1 ms of the turn are used$/)
    await bench.gw.admin('user.set_quota', { username: 'owner', tokens_per_day: 330 })
    expect(await refusedBy({ all: { tokens: 1 } })).toMatch(/^tokens_per_day: 330 of 330 tokens of the owner’s day /)
  })

  test('there is none without a model, for an external agent, or for a prompt that does not run under the claim', async () => {
    await using bench = await open()
    const turn = await bench.begin(await bench.agent())
    const args = { ...turn.claim, prompt_id: turn.promptId }
    const refused = async (changes: object) =>
      (await bench.host.reply('host.prepare_turn', { ...args, ...changes }))._meta?.['parley/error']
    await bench.gw.store.agents.update(turn.agentId, { settings: { model: null } })
    expect(await turn.refused()).toMatchObject({ code: 'conflict', hint: expect.stringContaining('agent.update') })
    await bench.call('agent.update', { agent_id: turn.agentId, model: MODEL })
    expect(await refused({ prompt_id: `prm_${'0'.repeat(26)}` })).toMatchObject({ code: 'not_found', field: 'prompt_id' })
    expect(await refused({ claim_id: '1' })).toMatchObject({ code: 'lease_lost' })
    await bench.call('agent.prompt', { agent_id: turn.agentId, text: 'and then' })
    const { running } = await bench.gw.store.prompts.open(turn.agentId)
    expect(running?.id).toBe(turn.promptId)
    const [waiting] = await bench.gw.store.prompts.list(turn.agentId, { limit: 1 })
    expect(await refused({ prompt_id: waiting?.id })).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('queued'),
    })
    await bench.call('agent.abort', { agent_id: turn.agentId })
    expect(await turn.refused()).toMatchObject({ code: 'conflict', message: expect.stringContaining('to end') })
    await turn.end()
    expect(await turn.refused()).toMatchObject({ code: 'conflict', message: expect.stringContaining('completed') })

    const external = await bench.agent({ kind: 'external' })
    await bench.gw.store.agents.wake(external)
    const held = await bench.host.claim()
    expect(await refused(held)).toMatchObject({ code: 'conflict', message: expect.stringContaining('external') })
  })

  test('a prompt that another host began is prepared after that host’s claim by the next, and the key of before ends', async () => {
    await using bench = await open()
    const turn = await bench.turn()
    await bench.host.call('host.release', turn.claim)
    expect(await turn.refused()).toMatchObject({ code: 'lease_lost' })
    expect((await turn.ask()).status).toBe(401)
    const claim = await bench.host.claim()
    // The claim holds, and nobody has said yet that it answers this prompt.
    const args = { ...claim, prompt_id: turn.promptId }
    const early = await bench.host.reply('host.prepare_turn', args)
    expect(early._meta?.['parley/error']).toMatchObject({ code: 'conflict', hint: expect.stringContaining('host.next_prompt') })
    expect(await bench.host.call('host.next_prompt', claim)).toMatchObject({
      prompt: { prompt_id: turn.promptId, resumed: true },
    })
    const { api_key: key } = TOOLS['host.prepare_turn'].output.parse(await bench.host.call('host.prepare_turn', args))
    expect((await turn.ask({}, { key })).status).toBe(200)
    expect((await turn.ask()).status).toBe(401)
    expect(await turn.booked(1)).toMatchObject([{ claimId: claim.claim_id, prompt: 1 }])
  })

  test('a model that is gone since is told in words for an agent', async () => {
    const answers = [{ events: RESPONSES_EVENTS }]
    const script = ModelScript.parse({ schema_version: 'script.v1', model: 'played', display_name: 'Played', answers })
    await using bench = await open({ script })
    const turn = await bench.turn({ model: 'played' })
    for (const { name } of await bench.gw.store.channels.list()) await bench.gw.admin('channel.delete', { name })
    await bench.call('agent.update', { agent_id: turn.agentId, model: 'none1' })
    expect(await turn.refused()).toMatchObject({
      code: 'not_found',
      message: 'there is no model none1',
      hint: expect.stringMatching(/^its owner sets another with agent\.update; models\.list names those there are: /),
    })
  })

  test('a script is played as for a job: bounds on money are no affair of it, those on tokens are', async () => {
    const answers = [{ events: RESPONSES_EVENTS }]
    const script = ModelScript.parse({ schema_version: 'script.v1', model: 'played', display_name: 'Played', answers })
    await using bench = await open({ script })
    const turn = await bench.turn({ model: 'played', budgets: { all: { microusd: 1, tokens: 60_000 } } })
    expect(turn.prepared).toMatchObject({ script: true, budget: { tokens: 60_000, microusd: null } })
    const answer = await turn.ask()
    expect([answer.status, answer.headers.get('x-parley-script')]).toEqual([200, '1'])
    await answer.text()
    expect(await turn.booked(1)).toMatchObject([{ source: 'script', agentId: turn.agentId }])
    expect((await turn.prepare()).budget.tokens).toBe(60_000 - 110)
  })
})
