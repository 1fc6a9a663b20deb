import { type Answer, FAILURES, type Piece } from '@parley/agent/testing/model-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '@parley/agent'
import { type Bench, openBench } from '../fixture/open-bench.ts'
import { openWriter } from '../fixture/open-writer.ts'
import { SOLUTIONS } from '../fixture/solutions.ts'
import { processesLeft } from '@parley/sandbox/testing'

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench[Symbol.asyncDispose]())

const MARK = 'plcancelmark'
const FILES = { '1.in': '2 3\n', '1.out': '5\n' }
const command = (script: string): Piece => ({ call: 'shell', arguments: { command: ['sh', '-c', script] } })
const selfTest: Piece = { call: 'realmoi-status_judge_self_test', arguments: { source: SOLUTIONS.python.sleeps } }

test.each<[string, readonly Answer[], RegExp]>([
  ['a model that says nothing', [{ silent: true }], /^asks loopback/],
  ['a model that stops in the middle', [{ pieces: [{ text: 'Well, ' }], manner: { stallAfterEvents: 4 } }], /^asks loopback/],
  [
    'a wait before the next try',
    [FAILURES.rateLimited({ 'retry-after': '20' })],
    /overloaded \(429\): Rate limit reached for requests, trying again in 2\d s \(try 2 of 15\)/,
  ],
  ['a command', [{ pieces: [command(`cp /bin/sleep ./${MARK}; ./${MARK} 1000 & ./${MARK} 1000`)] }], /^runs sh/],
  ['a self-test', [{ pieces: [selfTest] }], /^tests itself/],
])('the end of the job ends %s, and nothing runs on', async (_what, answers, begun) => {
  await using writer = await openWriter(bench, answers)
  const job = await writer.job({ files: FILES, timeMs: 60_000 })
  const controller = new AbortController()
  const generating = job.generate({ signal: controller.signal })
  await expect.poll(() => job.summaries().some((summary) => begun.test(summary))).toBe(true)
  if (answers.some((answer) => 'pieces' in answer && answer.pieces.some((piece) => 'call' in piece && piece.call === 'shell')))
    await expect.poll(() => processesLeft(process.pid, MARK).some((line) => line.includes(MARK))).toBe(true)
  controller.abort()
  expect(await generating).toMatchObject({ kind: 'failed', error: { code: 'cancelled' } })
  await expect.poll(() => processesLeft(process.pid, MARK).filter((line) => line.includes(MARK))).toEqual([])
  // The boxes and the engine are as good as new.
  expect(await bench.verdicts({ language: 'python', code: SOLUTIONS.python.right, files: FILES })).toEqual(['AC'])
})

test('an engine that cannot be stopped is left to itself', async () => {
  const never = new Promise<never>(() => {})
  const hung: Engine = {
    name: 'mini',
    resume: () => never,
    close: () => never,
    open: () =>
      Promise.resolve({
        id: 'c',
        model: 'm',
        submit: () => ({ id: 't', ended: never }),
        steer: () => false,
        interrupt: () => never,
        close: () => never,
      }),
  }
  await using writer = await openWriter(bench, [], { engineFor: () => hung, limits: { interruptMs: 50 } })
  const job = await writer.job()
  const controller = new AbortController()
  const generating = job.generate({ signal: controller.signal })
  await expect.poll(() => job.summaries()).toContain('asks loopback (test)')
  controller.abort()
  expect(await generating).toMatchObject({ kind: 'failed', error: { code: 'cancelled' } })
  expect(job.summaries().at(-1)).toContain('left to itself')
})

test('an engine that does not open, and one that never does', async () => {
  const broken = (): never => {
    throw Object.assign(new Error('no such binary'), { code: 'engine_missing' })
  }
  await using missing = await openWriter(bench, [], { engineFor: broken })
  expect(await (await missing.job()).generate()).toMatchObject({
    error: { code: 'engine_missing', message: 'mini: no such binary' },
  })
  await using slow = await openWriter(bench, [], { engineFor: () => new Promise(() => {}), limits: { generateMs: 100 } })
  expect(await (await slow.job()).generate()).toMatchObject({ error: { code: 'generate_timeout' } })
})
