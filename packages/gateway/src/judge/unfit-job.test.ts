import { JobId, type UserId } from '@parley/protocol'
import { JOB_QUEUE, type Lease, laneOf } from '@parley/store'
import { expect, test } from 'vitest'
import { mint, openTestGateway } from '../fixture/test-gateway.ts'
import { addUser } from '../fixture/test-job.ts'
import { TestJudge, addJob } from '../fixture/test-judge.ts'

/** Long enough for any step of a test, and never waited for to the end. */
const LONG_MS = 30_000
const FACTS = {
  version: '1',
  languages: [{ language: 'cpp', version: '1' }],
  sandbox: { driver: 'cage', tier: 'full', enforced: {}, missing: [] },
  slots: 1,
  guests: 0,
  running: 0,
}

test('a job in a language that no judge has does not keep somebody’s later jobs behind those who hand in one after the other', async () => {
  await using gw = await openTestGateway()
  const judge = await TestJudge.open(gw.gateway.ws, (await mint(gw, { role: 'judge', name: 'tower' })).token, 'tower')
  const mal = await addUser(gw, 'mal')
  const names = new Map<UserId, string>()
  for (const name of ['bob', 'cat', 'dan', 'eve']) names.set((await addUser(gw, name)).id, name)
  const lanes = [...names.keys()].map(laneOf)
  const unfit = await addJob(gw.store, { ownerId: mal.id, language: 'rust' })
  /** A judge that left it has hidden it for a moment. */
  const comesBack = async (): Promise<void> => {
    let seen: Lease | undefined
    const look = async () => {
      seen = await gw.store.leases.claim(JOB_QUEUE, 'look', { ttlMs: LONG_MS, without: lanes })
      return seen?.key
    }
    await expect.poll(look, { timeout: LONG_MS, interval: 10 }).toBe(unfit)
    if (seen !== undefined) await gw.store.leases.release(seen, { countClaim: false })
  }
  for (const [ownerId, name] of names)
    for (let job = 0; job < (name === 'bob' ? 4 : 1); job += 1) await addJob(gw.store, { ownerId })

  const served: string[] = []
  for (let turn = 0; turn < 16; turn += 1) {
    const claim = await judge.claim({ facts: FACTS })
    const id = JobId.parse(claim.job_id)
    const ownerId = (await gw.store.jobs.byId(id))?.ownerId ?? mal.id
    await gw.store.jobs.cancel(id)
    await judge.ok('judge.release_claim', { ...claim })
    served.push(names.get(ownerId) ?? 'mal')
    await comesBack()
    if (names.get(ownerId) !== 'bob') await addJob(gw.store, { ownerId })
  }
  expect(served.filter((name) => name === 'bob')).toHaveLength(4)
  expect(served).not.toContain('mal')
  judge.close()
})
