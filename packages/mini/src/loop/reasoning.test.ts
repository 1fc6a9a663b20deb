import { expect, test } from 'vitest'
import { turn } from '@parley/agent/testing'
import { openTalk } from './fixture/mini-talk.ts'

const done = { pieces: [{ text: 'done' }] }
const COMPLETED = { kind: 'completed', message: 'done' }
const thinking = {
  pieces: [
    { reasoning: 'Let me look.', encrypted: 'sealed' },
    { call: 'contract_echo', arguments: { text: 'hi' }, id: 'c1' },
  ],
}

test('reasoning goes back in its place with what the provider sealed, over restarts too', async () => {
  await using talk = await openTalk({ answers: [thinking, done, done] })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  const { conversation } = await talk.resume()
  expect(await turn(conversation, 'on')).toEqual(COMPLETED)
  const types = talk.input(-1).map((item) => item['type'])
  expect(types).toEqual(['message', 'reasoning', 'function_call', 'function_call_output', 'message', 'message'])
  expect(talk.input(-1)[1]).toMatchObject({ encrypted_content: 'sealed' })
})

test('another model does not get what the earlier one thought', async () => {
  await using talk = await openTalk({ answers: [thinking, done] })
  expect(await turn(talk.conversation, 'go')).toEqual(COMPLETED)
  talk.world.scriptWire('other', [done, done])
  const { conversation } = await talk.resume({ model: 'other' })
  expect(await turn(conversation, 'on')).toEqual(COMPLETED)
  const types = talk.input(-1).map((item) => item['type'])
  expect(types).toEqual(['message', 'function_call', 'function_call_output', 'message', 'message'])
  // Nor after another restart.
  await conversation.close()
  const engine = await talk.world.openEngine()
  const again = await engine.resume(conversation.id, { ...talk.options, model: 'other' }, talk.recorder)
  expect(await turn(again, 'and on')).toEqual(COMPLETED)
  expect(talk.input(-1).some((item) => item['type'] === 'reasoning')).toBe(false)
})

test('thoughts that nothing follows are told and not sent back', async () => {
  await using talk = await openTalk({
    answers: [{ pieces: [{ text: 'first' }, { reasoning: 'Hm.', encrypted: 'sealed' }] }, done],
  })
  expect(await turn(talk.conversation, 'go')).toEqual({ kind: 'completed', message: 'first' })
  expect(talk.recorder.one('reasoning').text).toBe('Hm.')
  expect(await turn(talk.conversation, 'on')).toEqual(COMPLETED)
})
