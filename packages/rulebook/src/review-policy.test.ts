import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Store, openStore } from '@parley/store'
import { type TestEngine, startEngine } from '@parley/store/testing'
import { policyIn } from './policy-view.ts'
import { Pace, failedExamples, reviewPolicy } from './review-policy.ts'

let host: TestEngine
let store: Store
beforeEach(async () => {
  host = await startEngine('sqlite')
  store = await openStore({ url: await host.migratedUrl() })
})
afterEach(async () => {
  await store.close()
  await host.stop()
})

const RECORD = { subject: { layer: 'installation' }, version: 1, sha256: '0'.repeat(64) } as const

/** A condition that costs as much as one may, and as many examples as there may be. */
function costly(examples: number): string {
  const list = `[${Array.from({ length: 200 }, (_, at) => at).join(', ')}]`
  const rule = `[[rule]]\nname = "slow"\nwhen = 'args.l.all(x, args.l.exists(y, y == x))'\ndecision = "ask"\n`
  const example = `[[example]]\ncall = { tool = "t", args = { l = ${list} } }\ndecision = "ask"\n`
  return rule + example.repeat(examples)
}

test('a policy whose own examples take too long is refused, and others have their turn meanwhile', async () => {
  let turns = 0
  let counting = setImmediate(function count() {
    turns += 1
    counting = setImmediate(count)
  })
  // Each look at the clock is a tenth of a second later than the one before.
  let ms = 0
  await expect(failedExamples(policyIn(costly(500)), new Pace(() => (ms += 100)))).rejects.toMatchObject({
    code: 'invalid_argument',
    field: 'text',
  })
  clearImmediate(counting)
  expect(turns).toBeGreaterThan(10)
})

test('the digest is of all that is shown, and the same for the same', async () => {
  const policy = policyIn(costly(1))
  const [one, again] = [await reviewPolicy(store, RECORD, policy), await reviewPolicy(store, RECORD, policy)]
  expect(one.digest).toBe(again.digest)
  expect((await reviewPolicy(store, { ...RECORD, version: 2 }, policy)).digest).not.toBe(one.digest)
})
