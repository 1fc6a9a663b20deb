import { afterAll, beforeAll, expect, test } from 'vitest'
import { zipOf } from './knapsack.ts'
import { type Judged, openJudged } from './open-judged.ts'
import { type SeedUser, modernUser, sessionUser } from './seed-user.ts'

/** A job at work, watched through its resources by the official clients of both eras: told, read again, never behind for good. */
const PARTS = ['state', 'report', 'terminal', 'agent-status', 'cases'] as const
const LIST = 'resource://jobs/list'
const CASES = 6
/** Slow enough to be seen at work. */
const SLOW = 'import time\ntime.sleep(0.2)\nprint(int(input()) * 2)\n'

let judged: Judged
let tests: string
beforeAll(async () => {
  judged = await openJudged(1)
  const files = Array.from({ length: CASES }, (_, index): [string, string][] => [
    [`${index + 1}.in`, `${index}\n`],
    [`${index + 1}.out`, `${index * 2}\n`],
  ])
  tests = (await zipOf(Object.fromEntries(files.flat()))).toString('base64')
}, 120_000)
afterAll(() => judged[Symbol.asyncDispose]())

test('the official client 1.32 on a session', { timeout: 120_000 }, async () => {
  await using user = await sessionUser(judged.mcp, judged.token)
  await watch(user, {
    missing: -32_002,
    subscribe: async (uris) => {
      for (const uri of uris) await user.client.subscribeResource({ uri })
    },
    read: async (uri) => textOf((await user.client.readResource({ uri })).contents),
  })
})

test('the official client 2.4 in the modern era', { timeout: 120_000 }, async () => {
  await using user = await modernUser(judged.mcp, judged.token)
  await watch(user, {
    missing: -32_602,
    subscribe: async (uris) => {
      const { honoredFilter } = await user.client.listen({ resourceSubscriptions: [...uris] })
      expect(honoredFilter.resourceSubscriptions?.toSorted()).toEqual(uris.toSorted())
    },
    read: async (uri) => textOf((await user.client.readResource({ uri })).contents),
  })
})

interface Watcher {
  /** What a resource that is not there is answered with. */
  readonly missing: number
  subscribe(uris: readonly string[]): Promise<void>
  read(uri: string): Promise<string>
}

/** Reads a resource again each time it is said to have changed, and nothing else: what it holds at last must be what is there. */
async function watch(user: SeedUser, watcher: Watcher): Promise<void> {
  const created = await user.call('job.create', {
    language: 'python',
    current_code: SLOW,
    tests_zip_b64: tests,
    title: 'watched',
  })
  const id = String(created['job_id'])
  const uris = [...PARTS.map((part) => `resource://jobs/${id}/${part}`), LIST]
  const [state, report, , , cases] = uris
  // The report is not there yet, and can be subscribed to all the same.
  await expect(watcher.read(`${report}`)).rejects.toMatchObject({ code: watcher.missing })
  await watcher.subscribe(uris)
  const seen = new Map<string, string[]>(uris.map((uri) => [uri, []]))
  let taken = 0
  const readWhatChanged = async (): Promise<void> => {
    const told = user.told.slice(taken).filter(({ method }) => method === 'notifications/resources/updated')
    taken = user.told.length
    for (const uri of new Set(told.map(({ params }) => String(params['uri'])))) seen.get(uri)?.push(await watcher.read(uri))
  }
  const last = (uri: string | undefined): string => seen.get(uri ?? '')?.at(-1) ?? ''
  await user.call('job.start', { job_id: id })
  await expect.poll(async () => (await readWhatChanged(), last(state)), { timeout: 60_000 }).toContain('"status":"succeeded"')
  // Little changes any more: what each resource was read as, on the word of an update alone, is what it is.
  for (const uri of uris) {
    const isCurrent = async (): Promise<boolean> => {
      await readWhatChanged()
      return last(uri) === (await watcher.read(uri))
    }
    await expect.poll(isCurrent, { message: uri }).toBe(true)
  }
  expect(user.told.every(({ params }) => uris.includes(String(params['uri'])))).toBe(true)
  expect(JSON.parse(last(report))).toMatchObject({ job_id: id, summary: { passed: CASES } })
  expect(last(cases).trimEnd().split('\n')).toHaveLength(CASES)
  expect(last(LIST)).toContain(id)
  // Logs only grow while one looks.
  for (const uri of uris.filter((each) => /terminal|agent-status|cases/.test(each))) {
    const texts = seen.get(uri) ?? []
    expect(texts.every((text, index) => index === 0 || text.startsWith(texts[index - 1] ?? ''))).toBe(true)
  }
}

function textOf(contents: readonly unknown[]): string {
  const [content] = contents
  if (typeof content === 'object' && content !== null && 'text' in content && typeof content.text === 'string')
    return content.text
  throw new Error(`no text: ${JSON.stringify(contents)}`)
}
