import { type Answer, type Piece, byTurn } from '@parley/agent/testing/model-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { openWriter } from '../fixture/open-writer.ts'
import { SOLUTIONS } from '../fixture/solutions.ts'
import { LoggedMemory } from '../worker/logged-memory.ts'
import { WORKER_LIMITS } from '../worker/worker-limits.ts'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const FILES = { '1.in': '2 3\n', '1.out': '5\n' }
const { right, wrong } = SOLUTIONS.python
const selfTest = (source: string): Piece => ({ call: 'realmoi-status_judge_self_test', arguments: { source } })
const answers = (...all: Answer[]) => byTurn('responses', all)
const says = (text: string): Answer => ({ pieces: [{ text }] })
const solution = JSON.stringify({ main: right })

describe('a judge that dies', () => {
  test('before any line of the log that it writes: another goes on, and what was said is not asked for again', async () => {
    const deaths: string[] = []
    for (let at = 1; ; at += 1) {
      await using writer = await openWriter(bench, answers({ pieces: [selfTest(right)] }, says(solution)))
      const job = await writer.job({ files: FILES })
      let died = false
      job.log.onAppend = (number, bytes) => {
        if (!died && number < at) return
        died = true
        deaths.push(`${at} ${bytes.toString().slice(0, 60)}`)
        throw new Error('killed')
      }
      const first = await job.generate().catch((error: unknown) => error)
      job.log.onAppend = () => {}
      if (!died) {
        expect(first).toMatchObject({ kind: 'code', code: right })
        break
      }
      const before = writer.model.requests.length
      job.claim()
      expect(await job.generate()).toMatchObject({ kind: 'code', code: right })
      const asked = writer.model.requests.length
      // Two answers are needed. One more at most: that which was on its way when the judge died.
      expect({ at, before, asked, extra: asked > 3 }).toMatchObject({ extra: false })
      expect(writer.model.violations).toEqual([])
    }
    expect(deaths.length).toBeGreaterThan(5)
  }, 120_000)

  test('in the middle of a line: the rest of it is dropped', async () => {
    await using writer = await openWriter(bench, answers({ pieces: [selfTest(right)] }, says(solution)))
    const whole = await writer.job({ files: FILES })
    await whole.generate()
    const { bytes } = whole.log
    for (const part of [0.15, 0.35, 0.6, 0.85, 0.97]) {
      const job = await writer.job({ files: FILES }, { job_id: whole.spec.job_id })
      job.log.bytes = Buffer.from(bytes.subarray(0, Math.floor(bytes.length * part)))
      expect({ part, generated: await job.generate() }).toMatchObject({ generated: { kind: 'code', code: right } })
      const warned = job.lines.filter(({ level }) => level === 'warn').map(({ summary }) => summary)
      // A self-test whose outcome was cut off did not happen, and this model does not make another.
      expect(warned.filter((summary) => !summary.startsWith('the answer is untested'))).toEqual([])
      // And what was cut is cut for good: the next judge reads past it.
      job.claim()
      const before = writer.model.requests.length
      expect(await job.generate()).toMatchObject({ kind: 'code', code: right })
      expect(writer.model.requests.length).toBe(before)
    }
    expect(writer.model.violations).toEqual([])
  }, 60_000)
})

test('an answer that was read is not asked for again, and a later attempt goes on in the same conversation', async () => {
  await using writer = await openWriter(bench, answers(says(JSON.stringify({ main: wrong })), says(solution)))
  const job = await writer.job({ files: FILES })
  await job.generate()
  job.claim()
  expect(await job.generate()).toMatchObject({ kind: 'code', code: wrong })
  expect(writer.model.requests).toHaveLength(1)
  const { report } = await bench.judge({ language: 'python', code: wrong, files: FILES })
  job.claim()
  expect(await job.generate({ attempt: 2, previous: { code: wrong, report } })).toMatchObject({ kind: 'code', code: right })
  const said = JSON.stringify(writer.model.requests[1]?.body['input'])
  expect(said).toMatch(/Solve this problem.*The judge tested/)
  expect(said).not.toContain('interrupted by a restart')
})

test('a log that cannot be read: the work starts anew and says so, and the one after goes on from there', async () => {
  await using writer = await openWriter(bench, answers(says(solution)))
  const job = await writer.job()
  job.log.bytes = Buffer.from('{"type":"claim","claim":1,"claim_id":"x"}\nwhat is this?\n{"type":"conversation","id":"cnv_1"}\n')
  const first = await LoggedMemory.open(job.log.claim(), WORKER_LIMITS, () => {})
  expect([first.warning, first.isResumed]).toEqual([expect.stringMatching(/line 2.*starts anew/), false])
  expect(await job.generate()).toMatchObject({ kind: 'code', code: right })
  const second = await LoggedMemory.open(job.log.claim(), WORKER_LIMITS, () => {})
  expect([second.warning, second.isResumed, second.message(1, 1)]).toEqual([undefined, true, solution])
})

test('a conversation that the engine does not know is begun anew, with the problem and the last report', async () => {
  await using writer = await openWriter(bench, answers(says(solution)))
  const job = await writer.job({ files: FILES })
  job.log.bytes = Buffer.from(
    '{"type":"claim","claim":1,"claim_id":"x"}\n{"type":"conversation","id":"cnv_1"}\n{"type":"entry","conversation":"cnv_1","entry":{"type":"odd"}}\n',
  )
  const { report } = await bench.judge({ language: 'python', code: wrong, files: FILES })
  expect(await job.generate({ attempt: 2, previous: { code: wrong, report } })).toMatchObject({ kind: 'code', code: right })
  expect(JSON.stringify(writer.model.requests[0]?.body['input'])).toMatch(/Solve this problem.*The judge tested/)
  expect(job.summaries().some((summary) => summary.startsWith('the conversation cannot be gone on with'))).toBe(true)
})
