import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { ApprovalDecision, ConversationListener, InputPart, MountSpec } from '@parley/agent'
import { Recorder, contractTools } from '@parley/agent/testing'
import { memoryPair, memoryTransport } from '@parley/rpc'
import type { PeerName } from '../../../../../../scripts/peers/peer.ts'
import { peerOrSkip } from '../../../../../../scripts/peers/peer-or-skip.ts'
import type { OpenOrder } from '../../../order.ts'
import { serveHttp } from '../../../testing/index.ts'
import { type SharedWorld, openSharedWorld } from '../../fixture/shared-world.ts'
import { engineOf } from '../../engine-of.ts'

const MODEL = 'model-one'
const said = (text: string): { readonly input: readonly InputPart[] } => ({ input: [{ type: 'text', text }] })
const USE = { use: 'echo', arguments: { text: 'hi' } } as const

/** What the bridge promises beside the contract of every engine, on one version. */
export async function overTheBridge(name: PeerName): Promise<void> {
  const peer = await peerOrSkip(name)
  if (peer === undefined) return
  const shared = await openSharedWorld({ peer })
  afterAll(() => shared[Symbol.asyncDispose]())
  describe(`${name} over the bridge`, () => {
    bridgeTests(shared)
  })
}

function bridgeTests(shared: SharedWorld): void {
  const { world } = shared
  const orderOf = async (more: Partial<OpenOrder> = {}): Promise<OpenOrder> => {
    const { folder } = await world.options(MODEL)
    return { model: MODEL, folder, approvalPolicy: 'never', sandbox: 'danger-full-access', ...more }
  }
  const open = async (listener: ConversationListener, more: Partial<OpenOrder> = {}) =>
    shared.bridge.open(await orderOf(more), listener)
  const lastRequest = (model: string) => world.requests.filter(({ body }) => body['model'] === model).at(-1)?.body

  test('it says who it is', () => {
    expect(shared.bridge).toMatchObject({
      dialect: 'v2',
      version: expect.stringMatching(/^0\.(166|153)\./),
      pid: expect.any(Number),
    })
  })

  test('what a turn sets holds for that turn alone', async () => {
    const recorder = new Recorder(() => 'denied')
    await using conversation = closing(await open(recorder, { effort: 'low' }))
    world.script('model-two', [[{ run: ['touch', 'x'] }], [{ say: 'other' }]])
    world.script(MODEL, [[{ run: ['touch', 'y'] }], [{ say: 'own' }]])
    const set = { model: 'model-two', effort: 'high', summary: 'detailed', approvalPolicy: 'untrusted' } as const
    expect(await conversation.submit({ ...said('one'), ...set }).ended).toEqual({ kind: 'completed', message: 'other' })
    expect(recorder.asked).toHaveLength(1)
    expect(lastRequest('model-two')).toMatchObject({ reasoning: { effort: 'high', summary: 'detailed' } })
    expect(await conversation.submit(said('two')).ended).toEqual({ kind: 'completed', message: 'own' })
    expect(recorder.asked).toHaveLength(1)
    expect(lastRequest(MODEL)).toMatchObject({ reasoning: { effort: 'low' } })
  })

  test('a conversation is gone on with by its file, and what was said in it is there', async () => {
    const recorder = new Recorder()
    const first = await open(recorder)
    world.script(MODEL, [[{ say: 'the-first-answer' }], [{ say: 'again' }]])
    await first.submit(said('the-first-question')).ended
    await first.close()
    const order = await orderOf()
    await using again = closing(await shared.bridge.resume({ path: first.rolloutPath }, order, recorder))
    expect(again).toMatchObject({ id: first.id, rolloutPath: first.rolloutPath, model: MODEL })
    expect(again.initialMessages).toEqual([
      { type: 'user_message', message: 'the-first-question', kind: 'plain' },
      { type: 'agent_message', message: 'the-first-answer' },
    ])
    expect(await again.submit(said('more')).ended).toEqual({ kind: 'completed', message: 'again' })
    expect(again.contextWindow).toEqual(expect.any(Number))
    await expect(shared.bridge.resume({ id: first.id }, order, recorder)).rejects.toThrow('is open already')
  })

  test.for(['/etc/passwd', '/no/such/rollout.jsonl', '../x.jsonl', '/a/../b.jsonl'])(
    'the file %s is no conversation',
    async (path) => {
      const unknown = expect.objectContaining({ code: 'conversation_unknown' })
      await expect(shared.bridge.resume({ path }, await orderOf(), new Recorder())).rejects.toThrow(unknown)
    },
  )

  test('a file that is no conversation is refused', async () => {
    const order = await orderOf()
    const path = join(order.folder ?? '', 'rollout-x.jsonl')
    await writeFile(path, '{"nonsense":true}\n')
    const refused = expect.objectContaining({ code: expect.stringMatching(/failed|invalid_request|conversation_unknown/) })
    await expect(shared.bridge.resume({ path }, order, new Recorder())).rejects.toThrow(refused)
  })

  describe('tools of mounts', () => {
    const asking = async (answers: readonly ApprovalDecision[], moves: number) => {
      const mounted = await serveHttp(contractTools())
      const mounts: MountSpec[] = [{ name: 'contract', required: true, server: mounted.server, toolTimeoutMs: 20_000 }]
      const left = [...answers]
      const recorder = new Recorder(() => left.shift() ?? 'denied')
      const conversation = await open(recorder, { approvalPolicy: 'untrusted', mounts })
      world.script(MODEL, [...Array.from({ length: moves }, () => [USE]), [{ say: 'done' }]])
      const end = await conversation.submit(said('call')).ended
      await conversation.close()
      await mounted[Symbol.asyncDispose]()
      return { recorder, end, statuses: recorder.all('tool_end').map(({ status }) => status) }
    }

    test('approved for the session is asked once', async () => {
      const { recorder, end, statuses } = await asking(['approved', 'approved_for_session'], 3)
      expect(end).toEqual({ kind: 'completed', message: 'done' })
      expect(statuses).toEqual(['completed', 'completed', 'completed'])
      expect(recorder.asked).toHaveLength(2)
      const [begin] = recorder.all('tool_begin')
      const [request] = recorder.asked
      expect(request).toMatchObject({
        kind: 'tool',
        mount: 'contract',
        tool: 'echo',
        arguments: { text: 'hi' },
        call: begin?.call,
      })
    })

    test('a denial is told to the model, and the turn goes on', async () => {
      const { end, statuses } = await asking(['denied'], 1)
      expect(end).toEqual({ kind: 'completed', message: 'done' })
      expect(statuses).toEqual(['declined'])
      expect(world.heard(MODEL).at(-1)).toContain('rejected')
    })

    test('an abort ends the turn', async () => {
      const { end, statuses } = await asking(['abort'], 1)
      expect(end).toEqual({ kind: 'interrupted' })
      expect(statuses).toEqual(['declined'])
    })

    test('a server in this process cannot be mounted', async () => {
      const server = { kind: 'linked', open: () => memoryTransport(memoryPair().client) } as const
      const refused = expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('near is linked') })
      await expect(open(new Recorder(), { mounts: [{ name: 'near', required: true, server }] })).rejects.toThrow(refused)
    })

    test('one that is required and cannot be started fails the opening, any other is a warning', async () => {
      const server = { kind: 'stdio', command: '/no/such/program', args: [], env: {} } as const
      const failed = expect.objectContaining({ code: 'failed', message: expect.stringContaining('broken') })
      await expect(open(new Recorder(), { mounts: [{ name: 'broken', required: true, server }] })).rejects.toThrow(failed)
      const recorder = new Recorder()
      await using conversation = closing(await open(recorder, { mounts: [{ name: 'broken', required: false, server }] }))
      world.script(MODEL, [[{ say: 'without it' }]])
      expect(await conversation.submit(said('hello')).ended).toEqual({ kind: 'completed', message: 'without it' })
      const warnings = recorder.all('warning').map(({ message }) => message)
      expect(warnings).toContainEqual(expect.stringContaining('broken could not be mounted'))
    })
  })

  test('a setting that Codex does not take is told in its own words', async () => {
    const refused = expect.objectContaining({ code: expect.stringMatching(/failed|invalid_request/) })
    await expect(open(new Recorder(), { config: { approval_policy: 'whenever' } })).rejects.toThrow(refused)
  })

  test('Codex can be asked anything, and its refusals come as they are', async () => {
    expect(await shared.bridge.ask('thread/loaded/list', {})).toMatchObject({ data: expect.any(Array) })
    await expect(shared.bridge.ask('no/such', {})).rejects.toThrow(expect.objectContaining({ code: -32_600 }))
  })

  describe('budgets', () => {
    const spend = async (budget: object, answers: Parameters<typeof world.script>[1], prices?: number) => {
      const rate =
        prices === undefined ? undefined : { input_microusd_per_1m_tokens: prices, output_microusd_per_1m_tokens: prices }
      const none = {
        cached_input_microusd_per_1m_tokens: null,
        cached_output_microusd_per_1m_tokens: null,
        reasoning_microusd_per_1m_tokens: null,
      }
      const engine = engineOf(shared.bridge, {
        now: Date.now,
        closes: 'conversations',
        ...(rate === undefined ? {} : { prices: () => ({ ...none, ...rate }) }),
      })
      const recorder = new Recorder()
      const bounds = { requests: null, tokens: null, microusd: null, wall_ms: null, ...budget }
      const options = { ...(await world.options(MODEL)), mounts: [], budget: bounds }
      const conversation = await engine.open(options, recorder)
      world.script(MODEL, answers)
      const end = await conversation.submit(said('go')).ended
      const next = await conversation.submit(said('again')).ended
      await engine.close()
      return { end, next, recorder }
    }
    const LOOP = [[{ run: ['true'] }], [{ run: ['true'] }], [{ say: 'done' }]] as const

    test.for([
      ['budget_requests', { requests: 1 }, undefined],
      ['budget_tokens', { tokens: 10 }, undefined],
      ['budget_money', { microusd: 1 }, 1_000_000],
    ] as const)('%s ends a turn that wants more, and the next one at its start', async ([code, budget, prices]) => {
      const { end, next, recorder } = await spend(budget, LOOP, prices)
      expect(end).toMatchObject({ kind: 'failed', code })
      expect(next).toMatchObject({ kind: 'failed', code })
      expect(recorder.all('turn_ended').map((event) => event.end)).toEqual([end, next])
    })

    test('an answer that uses up the budget is an answer', async () => {
      const { end, next } = await spend({ requests: 1 }, [[{ say: 'just in time' }]])
      expect(end).toEqual({ kind: 'completed', message: 'just in time' })
      expect(next).toMatchObject({ kind: 'failed', code: 'budget_requests' })
    })

    test('time is up while the model says nothing', async () => {
      const { end } = await spend({ wall_ms: 150 }, [{ hang: true }])
      expect(end).toMatchObject({ kind: 'failed', code: 'budget_time' })
    })

    test('without a price money is not counted, and a warning says so', async () => {
      const { end, recorder } = await spend({ microusd: 1 }, [[{ say: 'free' }], [{ say: 'too' }]])
      expect(end).toEqual({ kind: 'completed', message: 'free' })
      expect(recorder.all('warning').filter(({ message }) => message.includes('has no price'))).toHaveLength(1)
    })
  })
}

/** Closed at the end of the test. */
const closing = <Value extends { close(): Promise<void> }>(value: Value): Value & AsyncDisposable =>
  Object.assign(value, { [Symbol.asyncDispose]: () => value.close() })
