import { expect, test } from 'vitest'
import { onceAtATime } from './once-at-a-time.ts'

test('who asks while a look is under way has it looked at once more, however many they are', async () => {
  const looks: PromiseWithResolvers<void>[] = []
  const look = onceAtATime(
    () => {
      const begun = Promise.withResolvers<void>()
      looks.push(begun)
      return begun.promise
    },
    () => {},
  )
  look()
  look()
  look()
  expect(looks).toHaveLength(1)
  looks[0]?.resolve()
  await expect.poll(() => looks.length).toBe(2)
  looks[1]?.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(looks).toHaveLength(2)
  look()
  expect(looks).toHaveLength(3)
})

test('a look that fails is told, and the next one begins anew', async () => {
  const failures: unknown[] = []
  let count = 0
  const look = onceAtATime(
    async () => {
      count += 1
      if (count === 1) throw new Error('gone')
    },
    (error) => void failures.push(error),
  )
  look()
  await expect.poll(() => failures).toEqual([new Error('gone')])
  look()
  expect(count).toBe(2)
})
