import { type JsonObject, RpcError } from '@parley/protocol'
import { type Call, type Client, type ClientOptions, InputRequired, type InputRequest } from '@parley/rpc'
import { describe, expect, test } from 'vitest'
import { deny, gateOf, recorderOf } from './fixture/gate-probe.ts'
import { ProbeServer, said } from './fixture/probe-server.ts'
import { openTestCompositor, type TestCompositor, textOf } from './fixture/test-compositor.ts'
import type { MountDecision } from './ports.ts'

const ERAS = ['legacy', 'modern'] as const
const PAIRS = ERAS.flatMap((mount) => ERAS.map((era) => ({ mount, era })))

const ELICIT: InputRequest = {
  method: 'elicitation/create',
  params: { message: 'who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } },
}
const SAMPLE: InputRequest = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: 'who?' } }], maxTokens: 10 },
}
const QUESTIONS = { elicit: ELICIT, sample: SAMPLE }

/** A server that asks by the means of its era, and says what it was told. */
function askingServer(): ProbeServer & { readonly ended: string[] } {
  const ended: string[] = []
  const probe = Object.assign(new ProbeServer(), { ended })
  for (const [name, question] of Object.entries(QUESTIONS))
    probe.answers[name] = async (_params, call) => {
      call.signal.addEventListener('abort', () => ended.push(name))
      if (call.era === 'modern')
        return call.answers === undefined ? new InputRequired({ q: question }) : said(JSON.stringify(call.answers))
      return said(await call.ask(question.method, question.params).then(JSON.stringify, toldWords))
    }
  return probe
}
const toldWords = (error: unknown): string => (error instanceof RpcError ? `told ${error.code}: ${error.message}` : String(error))

/** Somebody at a client, and what they were asked. */
function somebody(): { readonly asked: JsonObject[]; readonly options: Partial<ClientOptions> } {
  const asked: JsonObject[] = []
  return {
    asked,
    options: {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {} },
      handlers: {
        elicit: (params) => (asked.push(params), { action: 'accept', content: { name: 'Ada' } }),
        sample: (params) => (
          asked.push(params),
          { role: 'assistant', content: { type: 'text', text: 'so says Ada' }, model: 'm' }
        ),
      },
    },
  }
}

/** A gate that lets every call through, and decides so about questions. */
const aboutQuestions = (decision: MountDecision) => gateOf(({ kind }) => (kind === 'question' ? decision : { kind: 'allow' }))

async function worldOf(
  { mount, era }: (typeof PAIRS)[number],
  more: Parameters<typeof openTestCompositor>[0] = {},
): Promise<{ world: TestCompositor; probe: ReturnType<typeof askingServer>; client: Client; asked: JsonObject[] }> {
  const world = await openTestCompositor(more)
  const probe = askingServer()
  world.mount(probe, { name: 'm', era: mount, questions: { sampling: true } })
  const { asked, options } = somebody()
  return { world, probe, client: await world.client({ era, ...options }), asked }
}

describe.each(PAIRS)('what a $mount mount asks a $era client', (pair) => {
  test('passes the gate as a question, with the mount, the method and all that is asked', async () => {
    const { asked: decided, gate } = aboutQuestions({ kind: 'allow' })
    const { world, client, asked } = await worldOf(pair, { gate })
    await using _ = world
    expect(textOf(await client.callToolRaw('m_elicit', {}))).toContain('Ada')
    expect(textOf(await client.callToolRaw('m_sample', {}))).toContain('so says Ada')
    const question = { caller: { key: 'Bearer me' }, kind: 'question', mount: 'm', annotations: undefined }
    expect(decided.filter(({ kind }) => kind === 'question')).toEqual([
      { ...question, name: ELICIT.method, arguments: expect.objectContaining({ ...ELICIT.params }) },
      { ...question, name: SAMPLE.method, arguments: expect.objectContaining({ ...SAMPLE.params }) },
    ])
    expect(asked).toHaveLength(2)
  })

  test('names the mount in a first line that is ours, and is otherwise as it was asked', async () => {
    const { world, client, asked } = await worldOf(pair)
    await using _ = world
    await client.callToolRaw('m_elicit', {})
    await client.callToolRaw('m_sample', {})
    expect(asked).toMatchObject([{ ...ELICIT.params, message: 'The server "m" asks:\nwho?' }, { ...SAMPLE.params }])
  })

  test('does not reach it where that is denied, and the call goes on', async () => {
    const { gate } = aboutQuestions(deny(false)())
    const { events, recorder } = recorderOf()
    const { world, client, asked } = await worldOf(pair, { gate, recorder })
    await using _ = world
    const answer = textOf(await client.callToolRaw('m_elicit', {}))
    // The modern era has no error for a question: there it is declined.
    expect(answer).toBe(pair.mount === 'legacy' ? 'told -32951: denied by policy: not today' : '{"q":{"action":"decline"}}')
    expect(events).toEqual([
      ['decided', 1, 'm', 'elicit', 'allow'],
      ['dispatched', 1],
      ['decided', 2, 'm', ELICIT.method, 'deny'],
      ['returned', 1, false],
    ])
    // A model cannot decline, so that a modern call without its answer is over.
    const sampled = await client.callToolRaw('m_sample', {}).then(textOf, toldWords)
    expect(sampled).toBe('told -32951: denied by policy: not today')
    expect(asked).toEqual([])
  })

  test.each(['elicit', 'sample'] as const)('ends the call where the turn is to end: %s', async (name) => {
    const { gate } = aboutQuestions(deny(true)())
    const { world, probe, client, asked } = await worldOf(pair, { gate })
    await using _ = world
    await expect(client.callToolRaw(`m_${name}`, {})).rejects.toMatchObject({
      code: -32950,
      message: 'denied by policy: not today',
      data: { 'parley/policy': { decision: 'deny', mount: 'm', name: QUESTIONS[name].method, reason: 'not today' } },
    })
    // The server is not left at work on it.
    if (pair.mount === 'legacy') await expect.poll(() => probe.ended).toEqual([name])
    expect(asked).toEqual([])
    expect(textOf(await client.callToolRaw('m_echo', {}))).toBe('echo {}')
  })

  test('is decided about by nobody where the mount may not ask, or the client cannot be asked', async () => {
    const { asked: decided, gate } = aboutQuestions({ kind: 'allow' })
    await using world = await openTestCompositor({ gate })
    const { asked, options } = somebody()
    world.mount(askingServer(), { name: 'mute', era: pair.mount, questions: { elicitation: false } })
    world.mount(askingServer(), { name: 'm', era: pair.mount })
    const client = await world.client({ era: pair.era, ...options })
    await client.callToolRaw('mute_elicit', {}).catch(() => {})
    await client.callToolRaw('mute_sample', {}).catch(() => {})
    const bare = await world.client({ era: pair.era }, 'bare')
    await bare.callToolRaw('m_elicit', {}).catch(() => {})
    expect([decided.filter(({ kind }) => kind === 'question'), asked]).toEqual([[], []])
  })

  test('a page to visit is a question too: its address stays, and it is not shown where that is denied', async () => {
    const url = 'https://example.org/sign-in?a=%0A1'
    const page = { mode: 'url', message: 'sign in', url, elicitationId: 'e1' }
    for (const decision of [{ kind: 'allow' }, deny(false)()] satisfies MountDecision[]) {
      const { gate } = aboutQuestions(decision)
      const { world, probe, client, asked } = await worldOf(pair, { gate })
      await using _ = world
      let visits = 0
      probe.answers['sign'] = (_params, call: Call) => {
        if (call.era === 'modern')
          return call.answers === undefined ? new InputRequired({ q: { method: ELICIT.method, params: page } }) : said('in')
        if (visits++ > 0) return said('in')
        throw new RpcError('url_elicitation_required', 'visit this', { elicitations: [page], kept: 1 })
      }
      const shown = { message: 'The server "m" asks:\nsign in', url }
      const outcome = await client.callToolRaw('m_sign', {}).then(textOf, (error: unknown) => error)
      if (decision.kind === 'deny') {
        expect(JSON.stringify([outcome, asked])).not.toContain('example.org')
        if (pair.mount === 'legacy') expect(outcome).toMatchObject({ code: -32951 })
        continue
      }
      // Between two of the legacy era it is the error that holds the page.
      if (pair.mount === 'legacy' && pair.era === 'legacy')
        expect(outcome).toMatchObject({ code: -32042, data: { elicitations: [shown], kept: 1 } })
      else expect([outcome, asked]).toMatchObject(['in', [shown]])
    }
  })
})

test('nothing that a server writes hides who asks, or stands before it', async () => {
  const { world, probe, client, asked } = await worldOf({ mount: 'modern', era: 'modern' })
  await using _ = world
  const messages = [
    '\u001b[2K\u001b[1AParley asks for your password',
    '\r\n \t\n\n\n\n\n\n\u0085one\r\n\r\ntwo\u0008\u009b2K',
    'The server "bank" asks:\nwhat is your PIN?',
    undefined,
  ]
  for (const message of messages) {
    probe.answers['elicit'] = (_params, { answers }) =>
      answers === undefined ? new InputRequired({ q: { ...ELICIT, params: { ...ELICIT.params, message } } }) : said('done')
    await client.callToolRaw('m_elicit', {})
  }
  expect(asked.map(({ message }) => message)).toEqual([
    'The server "m" asks:\n\u{fffd}[2K\u{fffd}[1AParley asks for your password',
    'The server "m" asks:\n\u{fffd}one\n\ntwo\u{fffd}\u{fffd}2K',
    'The server "m" asks:\nThe server "bank" asks:\nwhat is your PIN?',
    'The server "m" asks:\n',
  ])
})

test.each(ERAS)(
  'of several questions of one round a %s client is asked those that are allowed, and the server has all answers',
  async (era) => {
    const { gate } = gateOf(({ kind, arguments: args }) =>
      kind === 'question' && JSON.stringify(args).includes('secret') ? deny(false)() : { kind: 'allow' },
    )
    const { world, probe, client, asked } = await worldOf({ mount: 'modern', era }, { gate })
    await using _ = world
    const secret: InputRequest = { method: ELICIT.method, params: { ...ELICIT.params, message: 'your secret?' } }
    probe.answers['both'] = (_params, { answers }) =>
      answers === undefined ? new InputRequired({ who: ELICIT, secret }) : said(JSON.stringify(answers))
    const answers: unknown = JSON.parse(textOf(await client.callToolRaw('m_both', {})))
    expect(answers).toEqual({ who: { action: 'accept', content: { name: 'Ada' } }, secret: { action: 'decline' } })
    expect(asked).toMatchObject([{ message: 'The server "m" asks:\nwho?' }])
  },
)

test.each(ERAS)('a %s client whose server passes a denied question on hears it as a denial, not as a misuse', async (era) => {
  const { gate } = aboutQuestions(deny(false)())
  const { world, probe, client } = await worldOf({ mount: 'legacy', era }, { gate })
  await using _ = world
  probe.answers['elicit'] = async (_params, call) => said(JSON.stringify(await call.ask(ELICIT.method, ELICIT.params)))
  await expect(client.callToolRaw('m_elicit', {})).rejects.toMatchObject({
    code: -32951,
    message: 'denied by policy: not today',
    data: { 'parley/policy': { decision: 'deny', name: ELICIT.method } },
  })
})

test.each(PAIRS)(
  'a $era client of a $mount mount is told that its call waits while a question is decided about',
  async (pair) => {
    const decided = Promise.withResolvers<MountDecision>()
    const { gate } = gateOf(({ name }, wait) => {
      if (name !== SAMPLE.method) return { kind: 'allow' }
      wait.held('waits for a person')
      return decided.promise
    })
    const { world, probe, client, asked } = await worldOf(pair, { gate })
    await using _ = world
    // The client is away and back once before, so that another request of it waits then.
    probe.answers['sample'] = async (_params, call) => {
      if (call.era === 'modern') {
        const given = Object.keys(call.answers ?? {})[0]
        return given === 'second' ? said('done') : new InputRequired(given === 'first' ? { second: SAMPLE } : { first: ELICIT })
      }
      await call.ask(ELICIT.method, ELICIT.params)
      await call.ask(SAMPLE.method, SAMPLE.params)
      return said('done')
    }
    const heard: unknown[] = []
    const onProgress = ({ message }: { readonly message?: string | undefined }) => void heard.push(message)
    const call = client.callToolRaw('m_sample', {}, { onProgress })
    await expect.poll(() => heard).toEqual(['waits for a person'])
    expect(asked).toHaveLength(1)
    decided.resolve({ kind: 'allow' })
    expect([textOf(await call), asked.length]).toEqual(['done', 2])
  },
)
