import { expect, test } from 'vitest'
import { LanesFull, openLanes } from './lanes.ts'
import { SignInLimit } from './sign-in-limit.ts'

test('lanes run a few at once, let a few wait in order, and turn the rest away', async () => {
  const lanes = openLanes({ atOnce: 1, waiting: 1 })
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = lanes.run(async () => {
    await gate.promise
    order.push('first')
  })
  const second = lanes.run(async () => void order.push('second'))
  await expect(lanes.run(async () => void order.push('third'))).rejects.toThrow(LanesFull)
  gate.resolve()
  await Promise.all([first, second])
  await expect(lanes.run(() => Promise.reject(new Error('x')))).rejects.toThrow('x')
  await lanes.run(async () => void order.push('fourth'))
  expect(order).toEqual(['first', 'second', 'fourth'])
})

test('one home with many IPv6 addresses counts as one, two homes as two', () => {
  const rate = { perSecond: 0.001, burst: 1 }
  const limit = new SignInLimit({ perAddress: rate, perAccount: { perSecond: 1, burst: 100 } }, () => 0)
  expect(limit.enter('2001:db8:1:2::5').kind).toBe('go')
  expect(limit.enter('2001:db8:1:2:aaaa:bbbb:cccc:dddd').kind).toBe('wait')
  expect(limit.enter('2001:db8:1:3::5').kind).toBe('go')
  expect(limit.enter('::1').kind).toBe('go')
  expect(limit.enter('192.0.2.1').kind).toBe('go')
  expect(limit.enter('::ffff:192.0.2.1').kind).toBe('wait')
})

test('a sign-in that succeeds gives its place back', () => {
  const rate = { perSecond: 0.001, burst: 1 }
  const limit = new SignInLimit({ perAddress: rate, perAccount: rate }, () => 0)
  for (let index = 0; index < 3; index += 1) {
    const pass = limit.enter('192.0.2.1', { name: 'ada', isKnown: true })
    expect(pass.kind).toBe('go')
    if (pass.kind === 'go') pass.succeeded()
  }
})

test('made-up names do not make us forget an account that is guessed at, nor new addresses one that has used up its places', () => {
  const rate = { perSecond: 0.001, burst: 2 }
  const limit = new SignInLimit({ perAddress: rate, perAccount: rate }, () => 0)
  const ada = { name: 'ada', isKnown: true }
  for (let index = 0; index < 2; index += 1) expect(limit.enterAccount(ada).kind).toBe('go')
  for (let index = 0; index < 2; index += 1) expect(limit.enter('192.0.2.1').kind).toBe('go')
  for (let index = 0; index < 25_000; index += 1) {
    limit.enterAccount({ name: `made-up-${index}`, isKnown: false })
    limit.enter(`10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`)
  }
  expect(limit.enterAccount(ada).kind).toBe('wait')
  expect(limit.enter('192.0.2.1').kind).toBe('wait')
  expect(limit.enterAccount({ name: 'bob', isKnown: true }).kind).toBe('go')
})

test('signing in again and again is slowed down, too, for that account and from that address alone', () => {
  const many = { perSecond: 1, burst: 1_000 }
  const rates = { perAddress: { perSecond: 0.001, burst: 5 }, perAccount: { perSecond: 0.001, burst: 2 } }
  const limit = new SignInLimit({ perAddress: many, perAccount: many, successes: rates }, () => 0)
  const signIn = (address: string, name: string): string => {
    const pass = limit.enter(address, { name, isKnown: true })
    if (pass.kind === 'go') pass.succeeded()
    return pass.kind
  }
  const kinds = ['ada', 'ada', 'ada', 'bob', 'bob', 'eve', 'fay'].map((name) => signIn('192.0.2.1', name))
  expect(kinds).toEqual(['go', 'go', 'wait', 'go', 'go', 'go', 'wait'])
  expect(signIn('192.0.2.2', 'fay')).toBe('go')
})
