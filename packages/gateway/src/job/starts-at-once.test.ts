import { JOB_LIMITS, isJsonObject } from '@parley/protocol'
import { openStore } from '@parley/store'
import { ONE_CASE_ZIP, type TestEngine, startEngine } from '@parley/store/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addUser } from '../fixture/test-job.ts'
import { type ToolReply, callTool, openTestGateway, optionsOf } from '../fixture/test-gateway.ts'
import { openGateway } from '../gateway.ts'

let postgres: TestEngine
beforeAll(async () => {
  postgres = await startEngine('postgres')
})
afterAll(() => postgres.stop())

/** Two gateways on one database, and what one person calls at both in turn, all of it at once. */
async function openTwo() {
  const url = await postgres.migratedUrl()
  const one = await openTestGateway({}, url)
  const store = await openStore({ url })
  const other = await openGateway(optionsOf(store, one.logged))
  const ada = await addUser(one, 'ada')
  const urls = [one.gateway.url, other.url]
  const call = (index: number, name: string, args: object) => callTool(urls[index % 2] ?? '', ada.token, name, args)
  return {
    one,
    call,
    together: async (calls: readonly (readonly [name: string, args: object])[]) =>
      codesOf(await Promise.all(calls.map(([name, args], index) => call(index, name, args)))),
    async [Symbol.asyncDispose]() {
      await other.close(200)
      await store.close()
      await one[Symbol.asyncDispose]()
    },
  }
}

/** How often each code was answered. */
function codesOf(replies: readonly ToolReply[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const reply of replies) {
    const error = reply._meta?.['parley/error']
    const code = isJsonObject(error) && typeof error['code'] === 'string' ? error['code'] : 'ok'
    counts[code] = (counts[code] ?? 0) + 1
  }
  return counts
}

test('jobs that are started and retried at two gateways at once do not pass the quota together', async () => {
  await using two = await openTwo()
  await two.one.admin('user.set_quota', { username: 'ada', jobs_at_once: 3 })
  const create = async (index: number) => {
    const reply = await two.call(index, 'job.create', { current_code: 'int main() {}', tests_zip_b64: ONE_CASE_ZIP })
    return { job_id: reply.structuredContent?.['job_id'] }
  }
  const jobs = await Promise.all(Array.from({ length: 16 }, (_, index) => create(index)))
  const started = await two.together(jobs.map((job) => ['job.start', job]))
  expect(started).toEqual({ ok: 3, quota_exceeded: 13 })
  await two.together(jobs.map((job) => ['job.cancel', job]))
  const retried = await two.together(jobs.map((job) => ['job.retry', job]))
  expect(retried).toEqual({ ok: 3, quota_exceeded: 13 })
  const listed = await two.call(0, 'job.list', { status: ['created'] })
  expect(listed.structuredContent).toMatchObject({ items: [] })
})

test('uploads that are begun at two gateways at once do not pass their number together', async () => {
  await using two = await openTwo()
  const { userUploads } = JOB_LIMITS
  const begun = await two.together(Array.from({ length: userUploads + 20 }, () => ['blob.begin', {}]))
  expect(begun).toEqual({ ok: userUploads, quota_exceeded: 20 })
})
