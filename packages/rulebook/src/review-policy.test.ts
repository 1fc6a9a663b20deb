import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Store, openStore } from '@parley/store'
import { type TestEngine, startEngine } from '@parley/store/testing'
import { Pace } from './pace.ts'
import { policyIn } from './policy-view.ts'
import { failedExamples, reviewPolicy } from './review-policy.ts'

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

/** A condition that costs as much as a decision may, and as many examples as there may be. */
function costly(examples: number): string {
  const list = `[${Array.from({ length: 200 }, (_, at) => at).join(', ')}]`
  const rule = `[[rule]]\nname = "slow"\nwhen = 'args.l.all(x, args.l.exists(y, y == x))'\ndecision = "ask"\n`
  const example = `[[example]]\ncall = { tool = "t", args = { l = ${list} } }\ndecision = "ask"\n`
  return rule + example.repeat(examples)
}

/** How often others had their turn while something went on. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let counting = setImmediate(function count() {
    turns += 1
    counting = setImmediate(count)
  })
  await work()
  clearImmediate(counting)
  return turns
}

/** Each look at the clock is a tenth of a second later than the one before. */
function hastyPace(): Pace {
  let ms = 0
  return new Pace(() => (ms += 100))
}

test('a policy whose own examples take too long is refused, and others have their turn meanwhile', async () => {
  const policy = await policyIn(costly(500))
  const turns = await turnsDuring(() =>
    expect(failedExamples(policy, hastyPace())).rejects.toMatchObject({ code: 'invalid_argument', field: 'text' }),
  )
  expect(turns).toBeGreaterThan(10)
})

test('hundreds of conditions are compiled in pieces, and an example of theirs costs no more than a decision may', async () => {
  const rule = (at: number) => `[[rule]]\nname = "r${at}"\nwhen = 'args.l.exists(x, x == "${at}")'\ndecision = "ask"\n`
  const rules = Array.from({ length: 480 }, (_, at) => rule(at)).join('')
  const example = `[[example]]\ncall = { tool = "t", args = { l = [${'"a", '.repeat(500)}] } }\ndecision = "ask"\n`
  const read: Awaited<ReturnType<typeof policyIn>>[] = []
  expect(await turnsDuring(async () => read.push(await policyIn(rules + example, hastyPace())))).toBeGreaterThan(400)
  expect(await Promise.all(read.map((policy) => failedExamples(policy)))).toMatchObject([
    [{ example: 1, wanted: 'ask', decided: 'evaluator_error' }],
  ])
})

test('the digest is of all that is shown, and the same for the same', async () => {
  const policy = await policyIn(costly(1))
  const [one, again] = [await reviewPolicy(store, RECORD, policy), await reviewPolicy(store, RECORD, policy)]
  expect(one.digest).toBe(again.digest)
  expect((await reviewPolicy(store, { ...RECORD, version: 2 }, policy)).digest).not.toBe(one.digest)
})
