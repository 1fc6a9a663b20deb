import { expect, test } from 'vitest'
import { Recorder, expectWhole, turn } from '@parley/agent/testing'
import { openMiniWorld } from './fixture/mini-world.ts'

const CONVERSATIONS = 50

test('fifty conversations at once, each with calls of its own, end well', async () => {
  await using world = await openMiniWorld({ wire: 'responses' })
  const engine = await world.openEngine()
  const talks = await Promise.all(
    Array.from({ length: CONVERSATIONS }, async (_, number) => {
      const model = `model-${number}`
      const use = { use: 'echo', arguments: { text: `said by ${number}` } } as const
      world.script(model, [[use, use], [{ plan: [{ step: 'only', status: 'completed' }] }], [{ say: `answer ${number}` }]])
      const recorder = new Recorder()
      return { number, recorder, conversation: await engine.open(await world.options(model), recorder) }
    }),
  )
  const ends = await Promise.all(talks.map(({ conversation, number }) => turn(conversation, `question ${number}`)))
  expect(ends).toEqual(talks.map(({ number }) => ({ kind: 'completed', message: `answer ${number}` })))
  for (const { recorder } of talks) expectWhole(recorder.events)
  expect(world.violations()).toEqual([])
})
