import { describe, expect } from 'vitest'
import { totalTokens } from '@parley/protocol'
import { contractTest } from './contract-test.ts'
import { MODEL, converse } from './converse.ts'
import type { ContractHarness } from './harness.ts'
import { Recorder, said, turn } from './recorder.ts'

const SCHEMA = { type: 'object', properties: { zwölf: { type: 'integer' } }, required: ['zwölf'], additionalProperties: false }

/** Turns without calls. */
export function turnContract(harness: ContractHarness): void {
  const test = contractTest(harness)
  describe('turns', () => {
    test('a message comes in pieces that are the whole, and the turn completes with it', async () => {
      const text = 'Grüße aus dem Modell, in mehr als einem Stück, damit man etwas sieht.'
      await using c = await converse(harness, { answers: [[{ say: text }]] })
      expect(c.conversation).toMatchObject({ id: expect.any(String), model: c.options.model })
      const started = c.conversation.submit(said('hello'))
      expect(await started.ended).toEqual({ kind: 'completed', message: text })
      expect(c.recorder.events[0]).toEqual({ type: 'turn_started', turn: started.id })
      const end = { type: 'turn_ended', turn: started.id, end: { kind: 'completed', message: text } }
      expect(c.recorder.events.at(-1)).toEqual(end)
      const message = c.recorder.one('message')
      expect(message.text).toBe(text)
      const deltas = c.recorder.all('message_delta')
      expect(deltas.map(({ delta }) => delta).join('')).toBe(text)
      expect(new Set(deltas.map(({ item }) => item))).toEqual(new Set([message.item]))
      expect(c.world.heard(MODEL).at(-1)).toContain('hello')
    })

    test('what the model thinks is told as well', async () => {
      await using c = await converse(harness, { answers: [[{ think: 'Let me see.' }, { say: 'Seen.' }]] })
      expect(await turn(c.conversation, 'look')).toEqual({ kind: 'completed', message: 'Seen.' })
      expect(c.recorder.one('reasoning').text).toContain('Let me see.')
      expect(c.recorder.all('reasoning_delta').map(({ delta }) => delta)).not.toEqual([])
    })

    test('every request is counted, and the total is that of the conversation', async () => {
      await using c = await converse(harness, { answers: [[{ say: 'one' }], [{ say: 'two' }]] })
      await turn(c.conversation, 'first')
      await turn(c.conversation, 'second')
      const usages = c.recorder.all('usage')
      expect(usages).toHaveLength(2)
      const used = usages.map(({ last }) => totalTokens(last))
      expect(used.every((tokens) => tokens > 0)).toBe(true)
      expect(usages.map(({ total }) => totalTokens(total))).toEqual([used[0], (used[0] ?? 0) + (used[1] ?? 0)])
    })

    test('the next turn knows the one before', async () => {
      await using c = await converse(harness, { answers: [[{ say: 'the-first-answer' }], [{ say: 'second' }]] })
      await turn(c.conversation, 'the-first-question')
      await turn(c.conversation, 'second')
      const heard = c.world.heard(MODEL).at(-1) ?? ''
      expect(heard).toContain('the-first-question')
      expect(heard).toContain('the-first-answer')
    })

    test('instructions and the schema of the answer reach the model in every request, a turn can set its own schema', async () => {
      const own = { ...SCHEMA, properties: { dreizehn: { type: 'integer' } }, required: ['dreizehn'] }
      await using c = await converse(harness, {
        answers: [[{ plan: [{ step: 'only', status: 'completed' }] }], [{ say: '{"zwölf":12}' }], [{ say: '{"dreizehn":13}' }]],
        options: { outputSchema: SCHEMA, instructions: 'never-to-be-forgotten' },
      })
      expect(await turn(c.conversation, 'twelve')).toEqual({ kind: 'completed', message: '{"zwölf":12}' })
      const started = c.conversation.submit({ ...said('thirteen'), outputSchema: own })
      expect(await started.ended).toEqual({ kind: 'completed', message: '{"dreizehn":13}' })
      const [first, second, third] = c.world.heard(MODEL)
      for (const heard of [first, second, third]) expect(heard).toContain('never-to-be-forgotten')
      for (const heard of [first, second]) expect(heard).toContain('"required":["zwölf"]')
      expect(third).toContain('"required":["dreizehn"]')
    })

    test('a plan is told as it is', async () => {
      const steps = [
        { step: 'look', status: 'completed' },
        { step: 'leap', status: 'in_progress' },
      ] as const
      await using c = await converse(harness, { answers: [[{ plan: steps }], [{ say: 'planned' }]] })
      await turn(c.conversation, 'plan')
      expect(c.recorder.one('plan').steps).toEqual(steps)
    })

    const failures = [
      ['unauthorized', 'model_unauthorized'],
      ['rejected', 'model_rejected'],
    ] as const
    for (const [fail, code] of failures)
      test(`a model that answers ${fail} fails the turn with ${code}, and the next turn works`, async () => {
        await using c = await converse(harness, { answers: [{ fail }, [{ say: 'better now' }]] })
        expect(await turn(c.conversation, 'try')).toMatchObject({ kind: 'failed', code })
        expect(await turn(c.conversation, 'again')).toEqual({ kind: 'completed', message: 'better now' })
      })

    test('a refusal fails the turn with the words of the model', async () => {
      await using c = await converse(harness, { answers: [{ refuse: 'I would rather not.' }] })
      expect(await turn(c.conversation, 'do it')).toEqual({
        kind: 'failed',
        code: 'model_refusal',
        message: expect.stringContaining('I would rather not.'),
      })
    })

    test('a listener that throws loses nothing but the event', async () => {
      const recorder = new Recorder()
      const event = recorder.event.bind(recorder)
      recorder.event = (told) => {
        event(told)
        throw new Error('the listener is broken')
      }
      await using c = await converse(harness, { answers: [[{ run: ['echo', 'hi'] }], [{ say: 'done' }]], recorder })
      expect(await turn(c.conversation, 'go')).toEqual({ kind: 'completed', message: 'done' })
    })
  })
}
