import { openSandbox } from '@parley/sandbox'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CAGE_CACHE } from '../fixture/cage-cache.ts'
import { type Lease, Slots } from './slots.ts'

let folder: string
let slots: Slots
const never = new AbortController().signal
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-slots-'))
  const sandbox = await openSandbox({ driver: 'auto', cacheFolder: CAGE_CACHE, runFolder: folder })
  slots = new Slots(sandbox, 2)
})
afterAll(async () => {
  await slots.close()
  await rm(folder, { recursive: true, force: true })
})

/** Lets everything happen that can happen by itself. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('who wants all cores waits for those at work, and those who come later wait for it', async () => {
  const order: string[] = []
  const note = (name: string, lease: Promise<Lease>): Promise<Lease> =>
    lease.then((held) => {
      order.push(name)
      return held
    })
  const first = await note('first', slots.one(never))
  const all = note('all', slots.all(never))
  const late = note('late', slots.one(never))
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
  const [one, two] = [await slots.one(never), await slots.one(never)]
  const all = slots.all(controller.signal)
  const next = slots.one(never)
  controller.abort()
  await expect(all).rejects.toMatchObject({ code: 'no_slot' })
  one.release()
  one.release()
  const third = await next
  let isEarly = false
  const fourth = slots.one(never).then((lease) => {
    isEarly = true
    return lease
  })
  await settle()
  expect(isEarly).toBe(false)
  two.release()
  third.release()
  ;(await fourth).release()
})

test('a box that was given up is replaced by a fresh one', async () => {
  const lease = await slots.one(never)
  const before = await lease.slot.box('program')
  expect(await lease.slot.box('program')).toBe(before)
  expect(await lease.slot.box('author')).not.toBe(before)
  await lease.slot.renew()
  expect(await lease.slot.box('program')).not.toBe(before)
  lease.release()
})
