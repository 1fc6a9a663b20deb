import { JOB_LIMITS } from '@parley/protocol'
import { expect, test } from 'vitest'
import { TranscriptLog } from '../fixture/transcript-log.ts'
import { LoggedMemory } from './logged-memory.ts'
import { WORKER_LIMITS } from './worker-limits.ts'

const open = (log: TranscriptLog): Promise<LoggedMemory> => LoggedMemory.open(log.claim(), WORKER_LIMITS, () => {})
const ANSWER = { code: 'print(1)', solution: null, notes: ['n'] }

test('what was kept is known to the next judge, what nobody kept is not', async () => {
  const log = new TranscriptLog()
  const first = await open(log)
  expect([first.conversation, first.isResumed, first.selfTests]).toEqual([undefined, false, 0])
  const transcript = await first.transcripts.create('c1')
  expect(first.conversation).toBeUndefined()
  await transcript.append([{ type: 'opened' }, { type: 'input', text: 'ä' }])
  await first.turnEnded(1, 1, 'said')
  await first.selfTested('h1', false)
  await first.selfTested('h2', true)
  await first.answered(1, ANSWER)
  const second = await open(log)
  expect([second.conversation, second.isResumed, second.selfTests]).toEqual(['c1', true, 2])
  expect([second.message(1, 1), second.message(1, 2), second.message(2, 1)]).toEqual(['said', undefined, undefined])
  expect([second.hasPassed('h1'), second.hasPassed('h2'), second.hasPassed('h3')]).toEqual([false, true, false])
  expect(second.answer(1)).toMatchObject(ANSWER)
  expect([second.answer(2), second.report(1)]).toEqual([undefined, undefined])
  expect(await (await second.transcripts.open('c1'))?.read()).toEqual([{ type: 'opened' }, { type: 'input', text: 'ä' }])
  expect(await second.transcripts.open('c2')).toBeUndefined()
  // Whoever lost the job writes nothing any more.
  await expect(first.turnEnded(1, 2, 'late')).rejects.toThrow('lease_lost')
  expect((await open(log)).message(1, 2)).toBeUndefined()
})

test('a full log says so once, loses no answer, and its conversation is not gone on with', async () => {
  const log = new TranscriptLog()
  const first = await open(log)
  const transcript = await first.transcripts.create('c1')
  await transcript.append([{ type: 'opened' }])
  await first.answered(1, ANSWER)
  // A line of a kind that only a newer judge knows.
  const room = 200_000
  log.bytes = Buffer.concat([
    log.bytes,
    Buffer.from(`{"type":"later","pad":"${'x'.repeat(JOB_LIMITS.transcriptLogBytes - room - log.bytes.length)}"}\n`),
  ])
  const second = await open(log)
  expect([second.conversation, second.warning]).toEqual(['c1', undefined])
  const again = await second.transcripts.open('c1')
  await again?.append([{ type: 'input', text: 'y'.repeat(room) }])
  await again?.append([{ type: 'input', text: 'small' }])
  expect(log.bytes.length).toBeLessThan(JOB_LIMITS.transcriptLogBytes)
  expect(log.bytes.toString('utf8', log.bytes.length - 16)).toContain('"full"}')
  // Here it is still known.
  expect(second.entries()).toHaveLength(3)
  const third = await open(log)
  expect([third.conversation, third.warning]).toEqual([undefined, expect.stringContaining('full')])
  expect(third.answer(1)).toMatchObject(ANSWER)
}, 60_000)
