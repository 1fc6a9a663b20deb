import { expect, test } from 'vitest'
import { ROOMY } from '../testing/scratch.ts'
import { FRAME, FrameSplitter, FrameWriter } from './frame.ts'
import { decodeOutcome } from './order.ts'

const EXITED_WITH_ONE = 0x100
const KILLED = 9
const FIGURES = 7
const LENGTHS = 4

/** What the helper answers about a program that was started: why it ended, and how its first process did. */
function outcomeOf(why: number, wait: number) {
  const frame = new FrameWriter().u32(why).u32(wait).u32(1).u32(0)
  for (let figure = 0; figure < FIGURES; figure += 1) frame.u64(0)
  for (let length = 0; length < LENGTHS; length += 1) frame.u32(0)
  const [answer] = new FrameSplitter().push(frame.finish(FRAME.done))
  if (answer === undefined) throw new TypeError('a frame is one frame')
  return decodeOutcome(answer, { argv: ['/bin/true'], limits: ROOMY }).outcome
}

test.each([
  [1, 'cpu-limit'],
  [2, 'wall-limit'],
  [3, 'memory-limit'],
  [4, 'output-limit'],
  [5, 'process-limit'],
  [6, 'signal'],
] as const)('what the helper counted (%i: %s) names the end, whatever the first process came to do', (why, status) => {
  for (const wait of [EXITED_WITH_ONE, KILLED, 0])
    expect(outcomeOf(why, wait)).toMatchObject({ status, exitCode: null, signal: 'SIGKILL' })
})

test('where it counted nothing the first process tells', () => {
  expect(outcomeOf(0, EXITED_WITH_ONE)).toMatchObject({ status: 'nonzero', exitCode: 1, signal: null })
  expect(outcomeOf(0, KILLED)).toMatchObject({ status: 'signal', exitCode: null, signal: 'SIGKILL' })
  expect(outcomeOf(0, 0)).toMatchObject({ status: 'ok', exitCode: 0, signal: null })
  expect(outcomeOf(7, EXITED_WITH_ONE)).toMatchObject({ status: 'sandbox-error', exitCode: null, signal: null })
})
