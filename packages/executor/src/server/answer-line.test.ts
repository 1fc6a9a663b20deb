import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { AnswerLine } from './answer-line.ts'

test('one large answer is made at a time, when those before it have left, and none for nobody', async () => {
  const rooms: (() => void)[] = []
  const peer = { isGone: false, drained: () => new Promise<void>((resolve) => rooms.push(resolve)) }
  const line = new AnswerLine(peer, 1_024)
  const made: number[] = []
  const answers = [1, 2, 3].map((each) =>
    line.inTurn(async () => {
      made.push(each)
      if (each === 1) throw new Error('it failed')
      return each
    }),
  )
  const settled = Promise.allSettled(answers)
  for (const before of [0, 1]) {
    await expect.poll(() => rooms.length).toBe(before + 1)
    await turn()
    expect(made).toHaveLength(before)
    rooms[before]?.()
  }
  await expect.poll(() => rooms.length).toBe(3)
  peer.isGone = true
  rooms[2]?.()
  expect(await settled).toMatchObject([
    { status: 'rejected', reason: { message: 'it failed' } },
    { status: 'fulfilled', value: 2 },
    { status: 'rejected', reason: { message: 'the connection has ended' } },
  ])
  expect(made).toEqual([1, 2])
})
