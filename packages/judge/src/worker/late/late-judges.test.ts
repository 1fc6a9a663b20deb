import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '@parley/protocol'
import { expect, test } from 'vitest'
import { JobDesk } from '../../fixture/job-desk.ts'
import { specOf } from '../../fixture/open-bench.ts'
import { TalkingJudge } from '../../fixture/talking-judge.ts'

const FILES = { '1.in': 'x', '1.out': 'right' }
const SLOW_MS = 120_000
/** A crowded machine starts a judge slowly. */
const patiently = { timeout: 60_000 }
const NO_MODEL = 'http://127.0.0.1:1'

/** A desk with one job, and the folders of two machines. */
async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'parley-late-'))
  const spec = specOf({ language: 'python', code: 'print("right")', files: FILES }, `job_${'0'.repeat(26)}`)
  const desk = new JobDesk(spec, FILES, NO_MODEL)
  let url = await desk.open()
  const judges: TalkingJudge[] = []
  return {
    desk,
    here: join(folder, 'here'),
    there: join(folder, 'there'),
    /** A judge that has the job. */
    async judge(machine: 'here' | 'there', label: string, ...more: string[]): Promise<TalkingJudge> {
      const judge = new TalkingJudge(url, join(folder, machine), label, ...more)
      judges.push(judge)
      await judge.begun()
      return judge
    },
    async comeBack(): Promise<void> {
      url = await desk.open()
    },
    /** The numbered words in each log, in order. */
    words: () => ({
      terminal: desk.text('terminal').trimEnd().split('\n'),
      agent_status: desk.texts('agent_status', 'summary').filter((word) => WORD.test(word)),
      cases: desk.texts('cases', 'name'),
    }),
    losses: () =>
      desk.lines('agent_status').flatMap(({ meta }): { log: string; reason: string; lines: number }[] => Object(meta).lost ?? []),
    async [Symbol.asyncDispose]() {
      for (const judge of judges) await judge[Symbol.asyncDispose]()
      await desk[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
const WORD = /^[a-z]\d+$/
const numbered = (label: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${label}${index}`)
const inAll = (words: readonly string[]) => ({ terminal: words, agent_status: words, cases: words })

/** Keeps every append of the word from being answered, until it is let through or refused. */
function holdAppends(desk: JobDesk, word: string) {
  const released = Promise.withResolvers<void>()
  released.promise.catch(() => {})
  const held = new Set<string>()
  desk.onCall = async (tool, args) => {
    const text = Buffer.from(typeof args['chunk_b64'] === 'string' ? args['chunk_b64'] : '', 'base64').toString('utf8')
    if (!tool.startsWith('judge.job.append_') || !text.includes(word)) return
    held.add(tool)
    await released.promise
  }
  return {
    /** Settles when all three logs wait for the word. */
    async all(): Promise<void> {
      await expect.poll(() => held.size, patiently).toBe(3)
    },
    arrive(): void {
      released.resolve()
    },
    getLost(): void {
      released.reject(new ToolError('unavailable', 'lost on its way'))
    },
  }
}

test(
  'a judge that is killed while the gateway is away: the next one of its folder sends the rest, once and in order',
  { timeout: SLOW_MS },
  async () => {
    await using job = await open()
    const first = await job.judge('here', 'a')
    await first.say(5)
    await expect.poll(job.words, patiently).toEqual(inAll(numbered('a', 5)))
    await job.desk.leave()
    await first.say(5)
    await first.kill()
    job.desk.expire()
    await job.comeBack()
    const second = await job.judge('here', 'b')
    await second.say(2)
    await second.end()
    await job.desk.ended
    expect(job.words()).toEqual(inAll([...numbered('a', 10), ...numbered('b', 2)]))
    const summaries = job.desk.lines('agent_status').map(({ summary }) => summary)
    expect(summaries.slice(0, 12)).toEqual(['claimed by m1', ...numbered('a', 10), 'claimed by m1'])
    expect(job.losses()).toEqual([])
    const seqs = job.desk.texts('agent_status', 'seq')
    expect(new Set(seqs).size).toBe(seqs.length)
    // The lines are of the claim that said them.
    expect(new Set(seqs.slice(0, 11).map((seq) => seq.slice(0, 8))).size).toBe(1)
    await second.stop()
    expect(await readdir(job.here)).toEqual(['inputs'])
  },
)

type Fate = 'arrive' | 'getLost'

/** A judge says six words and dies: three have arrived, the fourth is on its way, two wait behind it. Answers what the gateway has then. */
async function killedInAppend(job: Awaited<ReturnType<typeof open>>, fate: Fate): Promise<string[]> {
  const first = await job.judge('here', 'a')
  await first.say(3)
  await expect.poll(job.words, patiently).toEqual(inAll(numbered('a', 3)))
  const held = holdAppends(job.desk, 'a3')
  await first.say(1)
  await held.all()
  await first.say(2)
  await first.kill()
  held[fate]()
  const arrived = numbered('a', fate === 'arrive' ? 4 : 3)
  await expect.poll(job.words, patiently).toEqual(inAll(arrived))
  job.desk.onCall = () => {}
  job.desk.expire()
  return arrived
}

test.each<Fate>(['arrive', 'getLost'])(
  'an append that was on its way when its judge was killed (%s): every word is there once',
  { timeout: SLOW_MS },
  async (fate) => {
    await using job = await open()
    await killedInAppend(job, fate)
    const second = await job.judge('here', 'b')
    await second.end()
    await job.desk.ended
    expect(job.words()).toEqual(inAll(numbered('a', 6)))
    expect(job.losses()).toEqual([])
  },
)

test.each<Fate>(['arrive', 'getLost'])(
  'the same with a claim of another machine in between (%s): what never left is sent, what nobody can know is told and not repeated',
  { timeout: SLOW_MS },
  async (fate) => {
    await using job = await open()
    const arrived = await killedInAppend(job, fate)
    const other = await job.judge('there', 'c')
    await other.say(2)
    await expect.poll(job.words, patiently).toEqual(inAll([...arrived, 'c0', 'c1']))
    await other.kill()
    job.desk.expire()
    const second = await job.judge('here', 'b')
    await second.end()
    await job.desk.ended
    expect(job.words()).toEqual(inAll([...arrived, 'c0', 'c1', 'a4', 'a5']))
    const lost = ['terminal', 'agent_status', 'cases'].map((log) => ({ claim: 1, log, reason: 'doubtful', lines: 1 }))
    expect(job.losses()).toMatchObject(lost)
  },
)

test(
  'a judge that lives and loses its claim leaves what did not arrive to its own next claim',
  { timeout: SLOW_MS },
  async () => {
    await using job = await open()
    const judge = await job.judge('here', 'a')
    await judge.say(2)
    await expect.poll(job.words, patiently).toEqual(inAll(numbered('a', 2)))
    const held = holdAppends(job.desk, 'a2')
    await judge.say(2)
    await held.all()
    job.desk.onCall = () => {}
    job.desk.expire()
    held.arrive()
    await judge.begun()
    await judge.end()
    await job.desk.ended
    expect(job.words()).toEqual(inAll(numbered('a', 4)))
    await judge.stop()
    expect(await readdir(job.here)).toEqual(['inputs'])
  },
)

test('a log that takes no more: the rest of an earlier claim is left out, and that is told', { timeout: SLOW_MS }, async () => {
  await using job = await open()
  const first = await job.judge('here', 'a')
  await first.say(2)
  await expect.poll(job.words, patiently).toEqual(inAll(numbered('a', 2)))
  await job.desk.leave()
  await first.say(2)
  await first.kill()
  job.desk.expire()
  job.desk.capBytes.set('terminal', job.desk.text('terminal').length)
  await job.comeBack()
  const second = await job.judge('here', 'b')
  await second.end()
  await job.desk.ended
  expect(job.words()).toEqual({ ...inAll(numbered('a', 4)), terminal: numbered('a', 2) })
  const told = job.desk.texts('agent_status', 'summary').filter((summary) => summary.startsWith('not sent'))
  expect(told).toEqual(['not sent of what a judge said here before: 6 bytes of terminal: the log is full'])
})

test('a judge that ends in order while the gateway is away leaves its words to the next', { timeout: SLOW_MS }, async () => {
  await using job = await open()
  const first = await job.judge('here', 'a', '1')
  await first.say(2)
  await expect.poll(job.words, patiently).toEqual(inAll(numbered('a', 2)))
  await job.desk.leave()
  await first.say(2)
  await first.stop()
  expect((await readdir(job.here)).toSorted()).toEqual(['inputs', 'late'])
  job.desk.expire()
  await job.comeBack()
  const second = await job.judge('here', 'b')
  await second.end()
  await job.desk.ended
  expect(job.words()).toEqual(inAll(numbered('a', 4)))
  await second.stop()
  expect(await readdir(job.here)).toEqual(['inputs'])
})
