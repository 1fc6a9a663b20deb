import { expect, test } from 'vitest'
import { ByteRoom } from './byte-room.ts'

test('an owner holds no more than its part, all together no more than there is, and what is let go of is free again', () => {
  const room = new ByteRoom({ bytes: 25, bytesPerOwner: 10 })
  const [one, another, second, third] = [room.share('a'), room.share('a'), room.share('b'), room.share('c')]
  expect([one.hold(8), another.hold(3), another.hold(2)]).toEqual([true, false, true])
  expect([second.hold(10), third.hold(6), third.hold(5)]).toEqual([true, false, true])
  expect([one.hold(9), one.hold(1), third.hold(10)]).toEqual([false, true, true])
})

test('what is small is not counted', () => {
  const room = new ByteRoom({ bytes: 10, bytesPerOwner: 10, uncountedBytes: 4 })
  const [one, another] = [room.share('a'), room.share('a')]
  expect([one.hold(10), another.hold(4), another.hold(5), one.hold(4), another.hold(5)]).toEqual([true, true, false, true, true])
})
