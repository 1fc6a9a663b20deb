import { AGENT_LIMITS } from '@parley/protocol'
import { ENGINES, type TestEngine, startEngine } from '@parley/store/testing'
import { RESPONSES_EVENTS, event, stream, text } from '@parley/models/testing'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../fixture/job-socket.ts'
import { type RefusedCall, type Turn, TurnBench } from '../fixture/turn-bench.ts'

const [CREATED = {}, DELTA = {}] = RESPONSES_EVENTS
const BEGUN = event(CREATED) + event(DELTA)
/** What a request without a bound sets aside for its answer: that is booked where we hang up. */
const WHOLE = { status: 'booked', estimated: true, tokens: { output_tokens: 16_384 } }
const end = (response: ServerResponse) => stream(response).end(text(RESPONSES_EVENTS))

/** Begins an answer and leaves it open. */
async function begin(bench: TurnBench, turn: Turn) {
  bench.upstream.answer = (response) => stream(response).write(BEGUN)
  const reader = (await turn.ask()).body?.getReader()
  if (reader === undefined) throw new Error('there is no body')
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(BEGUN)
  return reader
}

async function overWith(turn: Turn): Promise<unknown> {
  const answer = await turn.ask()
  return [answer.status, await answer.json()]
}
const over = (message: string) => [
  401,
  { error: { code: 'expired_api_key', message: `this key does not work any more: ${message}` } },
]

describe.each(ENGINES)('a stream of an agent’s turn on %s', (engine) => {
  let host: TestEngine
  beforeAll(async () => {
    host = await startEngine(engine)
  })
  afterAll(() => host.stop())
  const open = async (options: Parameters<typeof TurnBench.open>[0] = {}) =>
    TurnBench.open({ database: await host.migratedUrl(), ...options })

  test.each([
    {
      what: 'somebody wants the turn to end',
      words: 'somebody wants its turn to end',
      stop: (bench: TurnBench, { agentId }: Turn) => bench.call('agent.abort', { agent_id: agentId }),
    },
    { what: 'its prompt ended', words: 'its prompt is completed', stop: (_: TurnBench, turn: Turn) => turn.end() },
    {
      what: 'the host gives the agent back',
      words: 'its claim is over',
      stop: ({ host: worker }: TurnBench, { claim }: Turn) => worker.call('host.release', claim),
    },
    {
      what: 'its owner is disabled',
      words: 'its claim is over',
      stop: ({ gw }: TurnBench) => gw.admin('user.disable', { username: 'owner' }),
    },
  ])('is cut and booked when $what', async ({ words, stop }) => {
    await using bench = await open()
    const turn = await bench.turn()
    const reader = await begin(bench, turn)
    const since = Date.now()
    await stop(bench, turn)
    await expect(reader.read()).rejects.toThrow('terminated')
    // It is told at once; a look each second is behind it. Whatever else the machine does, it is no matter of the lease running out.
    expect(Date.now() - since).toBeLessThan(AGENT_LIMITS.leaseMs)
    await until(() => bench.upstream.left === 1)
    expect(await turn.booked(1)).toMatchObject([{ ...WHOLE, agentId: turn.agentId, ownerId: bench.owner.id }])
    expect(await overWith(turn)).toMatchObject(over(words))
  })

  test('is cut and booked when the agent is deleted, and the books keep it', async () => {
    await using bench = await open()
    const turn = await bench.turn()
    const reader = await begin(bench, turn)
    await bench.call('agent.delete', { agent_id: turn.agentId })
    await expect(reader.read()).rejects.toThrow('terminated')
    expect(await turn.booked(1)).toMatchObject([{ ...WHOLE, agentId: turn.agentId, ownerId: bench.owner.id }])
    expect((await turn.ask()).status).toBe(401)
    expect(await bench.call('usage.summary', {})).toMatchObject({ total: { calls: 1, estimated_calls: 1 } })
  })

  test('is cut when the lease runs out, and when a new key takes the place of its own', async () => {
    let ahead = 0
    const now = (): number => Date.now() + ahead
    await using bench = await open({ gateway: { now }, storeNow: now })
    const turn = await bench.turn()
    const replaced = await begin(bench, turn)
    const { api_key: key } = turn.prepared
    await turn.prepare()
    expect((await turn.ask({}, { key })).status).toBe(401)
    await expect(replaced.read()).rejects.toThrow('terminated')
    const reader = await begin(bench, turn)
    ahead = 2 * AGENT_LIMITS.leaseMs
    await expect(reader.read()).rejects.toThrow('terminated')
    expect(await overWith(turn)).toMatchObject(over('its lease ran out'))
    expect(await turn.booked(2)).toMatchObject([WHOLE, WHOLE])
  })

  test('two agents at once never pass their owner’s day together, nor one its own bound, and no other is in their way', async () => {
    // Each call may come to a little more than 1,000 tokens.
    await using bench = await open({ gateway: { quota: { tokensPerDay: 5_500 } } })
    const waiting: ServerResponse[] = []
    bench.upstream.answer = (response) => waiting.push(response)
    const [one, other] = [await bench.turn({ budgets: { turn: { tokens: 2_500 } } }), await bench.turn()]
    const ask = (turn: Turn, times: number) => Array.from({ length: times }, () => turn.ask({ max_output_tokens: 1_000 }))
    const asking = [...ask(one, 4), ...ask(other, 4)]
    await until(() => waiting.length === 5)
    // Whoever comes first: two fit the turn of the one, five the day of its owner.
    for (const answer of await firstOf(asking, 3)) {
      const { error } = (await answer.json()) as RefusedCall
      expect(`${error.code}: ${error.message}`).toMatch(
        /^(budget_exceeded: .*budgets\.turn\.tokens: |quota_exceeded: .*tokens_per_day: )/,
      )
    }
    expect((await bench.gw.store.usages.spentIn('turn', one.spender, 0)).tokens).toBeLessThanOrEqual(2_500)
    expect((await bench.gw.store.usages.spent(bench.owner.id, 0)).tokens).toBeLessThanOrEqual(5_500)
    for (const response of waiting) end(response)
    for (const answer of await Promise.all(asking)) if (!answer.bodyUsed) await answer.text()
    const counts = [await one.booked(1), await other.booked(1)].map((calls) => calls.length)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5)
    expect(counts[0]).toBeLessThanOrEqual(2)
  })

  test('what one turn may ask and how long is bounded, also by a key that was made anew', async () => {
    await using bench = await open()
    bench.upstream.answer = end
    const turn = await bench.turn({ budgets: { turn: { requests: 3 } } })
    for (let asked = 0; asked < 2; asked += 1) expect((await turn.ask()).status).toBe(200)
    await turn.booked(2)
    expect((await turn.prepare()).budget.requests).toBe(1)
    await (await turn.ask()).text()
    expect(await (await turn.ask()).json()).toMatchObject({
      error: { code: 'budget_exceeded', message: 'budgets.turn.requests: this turn has made its 1 requests' },
    })
    await turn.booked(3)
    expect(await turn.refused()).toMatchObject({ code: 'quota_exceeded' })
  })
})

/** The first so many answers that come. */
async function firstOf(asking: readonly Promise<Response>[], count: number): Promise<readonly Response[]> {
  const answers: Response[] = []
  for (const each of asking) void each.then((answer) => answers.push(answer))
  await until(() => answers.length === count)
  return answers.slice(0, count)
}
