import { expect, test } from 'vitest'
import { openMiniBackendWorld } from '../fixture/mini-backend-world.ts'

test('without a key that is needed no model is asked, and the turn says what to set', async () => {
  await using world = await openMiniBackendWorld({ givenKey: null, needsKey: true })
  const conversation = await world.backend.open({}, { event: () => undefined, approve: () => Promise.resolve('denied') })
  const { ended } = conversation.submit({ input: [{ type: 'text', text: 'hi' }] })
  expect(await ended).toMatchObject({
    kind: 'failed',
    code: 'model_unauthorized',
    message: expect.stringContaining('PARLEY_MODEL_BASE_URL'),
  })
})
