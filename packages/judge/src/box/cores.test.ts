import { type Sandbox, openSandbox } from '@parley/sandbox'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CAGE_CACHE } from '@parley/sandbox/testing'
import type { PlaceSeeker, HeldPlace } from './shared-places.ts'
import type { Core } from './core.ts'
import { Cores } from './cores.ts'
import { WorkClock } from './work-clock.ts'

let folder: string
let cores: Cores
const never = new AbortController().signal
const NOBODY: PlaceSeeker = { owner: null }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-cores-'))
  const sandbox = await openSandbox({ driver: 'auto', cacheFolder: CAGE_CACHE, runFolder: folder })
  cores = new Cores(sandbox, 2)
})
afterAll(async () => {
  await cores.close()
  await rm(folder, { recursive: true, force: true })
})

/** Lets everything happen that can happen by itself. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('who wants all cores waits for those at work, and those who come later wait for it', async () => {
  const order: string[] = []
  const note = (name: string, asked: Promise<HeldPlace<Core>>): Promise<HeldPlace<Core>> =>
    asked.then((held) => {
      order.push(name)
      return held
    })
  const first = await note('first', cores.one(NOBODY, never))
  const all = note('all', cores.all(NOBODY, never))
  const late = note('late', cores.one(NOBODY, never))
  await settle()
  expect(order).toEqual(['first'])
  first.release()
  const held = await all
  await settle()
  expect(order).toEqual(['first', 'all'])
  held.release()
  ;(await late).release()
  expect(order).toEqual(['first', 'all', 'late'])
})

test('who leaves the queue frees the way, and giving back twice counts once', async () => {
  const controller = new AbortController()
  const [one, two] = [await cores.one(NOBODY, never), await cores.one(NOBODY, never)]
  const all = cores.all(NOBODY, controller.signal)
  const next = cores.one(NOBODY, never)
  controller.abort()
  await expect(all).rejects.toMatchObject({ code: 'no_place' })
  one.release()
  one.release()
  const third = await next
  let isEarly = false
  const fourth = cores.one(NOBODY, never).then((held) => {
    isEarly = true
    return held
  })
  await settle()
  expect(isEarly).toBe(false)
  two.release()
  third.release()
  ;(await fourth).release()
})

test('a box that was given up is replaced by a fresh one', async () => {
  const held = await cores.one(NOBODY, never)
  const before = await held.place.box('program')
  expect(await held.place.box('program')).toBe(before)
  expect(await held.place.box('author')).not.toBe(before)
  await held.place.renew()
  expect(await held.place.box('program')).not.toBe(before)
  held.release()
})

describe('shared out among owners', () => {
  /** Cores whose clock the test sets, and who got one when. */
  function cores(count: number) {
    let nowMs = 0
    const order: string[] = []
    const sandbox = {} as Sandbox
    const shared = new Cores(sandbox, count, () => nowMs)
    const ask = (owner: string, name: string, how: 'one' | 'all' = 'one', signal = never): Promise<HeldPlace<Core>> =>
      shared[how]({ owner }, signal).then((held) => {
        order.push(name)
        return held
      })
    return { order, ask, passes: (ms: number) => (nowMs += ms) }
  }

  test('who came later and had less goes before those who had more', async () => {
    const { order, ask, passes } = cores(1)
    const first = await ask('ann', 'ann 1')
    const [second, third] = [ask('ann', 'ann 2'), ask('ann', 'ann 3')]
    const bob = ask('bob', 'bob 1')
    passes(1_000)
    first.release()
    ;(await bob).release()
    ;(await second).release()
    ;(await third).release()
    expect(order).toEqual(['ann 1', 'bob 1', 'ann 2', 'ann 3'])
  })

  test('a run alone counts for all cores that it keeps, those included that stood idle for it', async () => {
    const { order, ask, passes } = cores(2)
    const [ann, bob] = [await ask('ann', 'ann 1'), await ask('bob', 'bob 1')]
    const alone = ask('ann', 'ann alone', 'all')
    const later = [ask('bob', 'bob 2'), ask('bob', 'bob 3'), ask('bob', 'bob 4'), ask('bob', 'bob 5')]
    const again = ask('ann', 'ann alone again', 'all')
    ann.release()
    // One core stands idle until Bob's has ended: nobody begins before the one that wants both.
    passes(1_000)
    await settle()
    expect(order).toEqual(['ann 1', 'bob 1'])
    bob.release()
    const held = await alone
    passes(100)
    held.release()
    // Ann has had 1,200 and Bob 1,000.
    for (const held of later.slice(0, 2)) {
      passes(50)
      ;(await held).release()
    }
    for (const held of later.slice(2)) (await held).release()
    ;(await again).release()
    expect(order.slice(2)).toEqual(['ann alone', 'bob 2', 'bob 3', 'bob 4', 'bob 5', 'ann alone again'])
  })

  test('a run alone that was next stays next, whoever comes', async () => {
    const { order, ask, passes } = cores(2)
    const bob = await ask('bob', 'bob 1')
    passes(500)
    const alone = ask('ann', 'ann alone', 'all')
    passes(10_000)
    const others = ['cid', 'dan'].map((name) => ask(name, name))
    const gone = new AbortController()
    const leaves = ask('eve', 'eve', 'one', gone.signal)
    gone.abort()
    await expect(leaves).rejects.toMatchObject({ code: 'no_place' })
    await settle()
    expect(order).toEqual(['bob 1'])
    bob.release()
    ;(await alone).release()
    for (const held of others) (await held).release()
    expect(order).toEqual(['bob 1', 'ann alone', 'cid', 'dan'])
  })

  test('nobody saves up by staying away', async () => {
    const { order, ask, passes } = cores(1)
    const ann = await ask('ann', 'ann 1')
    passes(60_000)
    // Bob had nothing of the minute before he came: from here on both have the same.
    const names = ['bob 1', 'bob 2', 'ann 2', 'ann 3']
    const runs = names.map(async (name) => {
      const held = await ask(name.slice(0, 3), name)
      passes(20)
      held.release()
    })
    passes(10)
    ann.release()
    await Promise.all(runs)
    expect(order).toEqual(['ann 1', 'bob 1', 'ann 2', 'bob 2', 'ann 3'])
  })

  test('the clock of a job stands while all that it wants waits, and runs while it holds a core', async () => {
    const ended: string[] = []
    const { promise: over, resolve } = Promise.withResolvers<void>()
    const shared = new Cores({} as Sandbox, 1)
    const other = await shared.one({ owner: 'ann' }, never)
    const clock = new WorkClock(50, () => {
      ended.push('bob')
      resolve()
    })
    const waits = shared.one({ owner: 'bob', clock }, never)
    const measure = new WorkClock(200, () => other.release())
    const held = await waits
    measure.stop()
    expect(ended).toEqual([])
    await over
    held.release()
    expect(ended).toEqual(['bob'])
  })
})
