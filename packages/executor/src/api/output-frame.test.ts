import { expect, test } from 'vitest'
import { outputFrame, outputOf } from './output-frame.ts'

test('output comes back from a frame as it went in', () => {
  for (const stream of ['stdout', 'stderr', 'pty'] as const)
    for (const [processId, bytes, seq] of [
      ['p', Buffer.from('x'), 1],
      ['Grüße', Buffer.alloc(0), 2 ** 40],
      ['', Buffer.from([0, 255, 13, 10]), 7],
    ] as const) {
      const event = { kind: 'output', seq, stream, bytes } as const
      const parts = outputFrame(processId, event) ?? []
      const whole = Buffer.concat(parts)
      expect(outputOf(parts)).toEqual({ processId, event })
      // However it was cut on its way.
      for (let at = 0; at <= whole.length; at += 1)
        expect(outputOf([whole.subarray(0, at), whole.subarray(at)])).toEqual({ processId, event })
    }
})

test('what does not fit into a frame is said to, and what is none is passed over', () => {
  const event = { kind: 'output', seq: 1, stream: 'stdout', bytes: Buffer.from('x') } as const
  expect(outputFrame('x'.repeat(70_000), event)).toBeUndefined()
  const whole = Buffer.concat(outputFrame('process', event) ?? [])
  for (let size = 0; size < whole.length - 1; size += 1) expect(outputOf([whole.subarray(0, size)])).toBeUndefined()
  expect(outputOf([Buffer.of(9), whole.subarray(1)])).toBeUndefined()
  expect(outputOf([whole.subarray(0, 1), Buffer.of(9), whole.subarray(2)])).toBeUndefined()
})
