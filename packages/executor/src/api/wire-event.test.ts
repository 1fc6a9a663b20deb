import { expect, test } from 'vitest'
import type { SequencedEvent } from '../process/exec-process.ts'
import { eventOf, notificationText, outputIn } from './wire-event.ts'

const output = (processId: string, more = {}): string =>
  JSON.stringify({ method: 'process/output', params: { processId, seq: 7, stream: 'stdout', chunk: 'aGVsbG8=', ...more } })

test.each<[SequencedEvent]>([
  [{ kind: 'output', seq: 1, stream: 'stderr', bytes: Buffer.from('hello') }],
  [{ kind: 'exited', seq: 2, exitCode: 137 }],
  [{ kind: 'closed', seq: 3 }],
])('what is told of %j is read back the same, whatever the process is called', (event) => {
  for (const processId of ['p', 'a "quoted" \\ name', '","seq":9', 'ü']) {
    const { method, params } = JSON.parse(notificationText(processId, event))
    expect(eventOf(method, params)).toEqual({ processId, event })
  }
})

test('output in the usual layout is taken apart without parsing, and is the same as parsed', () => {
  for (const text of [output('p'), output('mcp-stdio-1', { stream: 'pty', chunk: '' })]) {
    const { method, params } = JSON.parse(text)
    expect(outputIn(text)).toEqual(eventOf(method, params))
  }
})

test.each([
  [output('a "quoted" name')],
  [output('back\\slash')],
  [output('p', { seq: 'x' })],
  [output('p', { stream: 'other' })],
  [output('p', { chunk: 'a"b' })],
  [output('p', { more: 1 })],
  [`${output('p')} `],
  [output('p').slice(0, -1)],
  ['{"method":"process/output","params":{"processId":"p"}}'],
  ['{"method":"process/closed","params":{"processId":"p","seq":1}}'],
])('%s is left to be parsed', (text) => {
  expect(outputIn(text)).toBeUndefined()
})
