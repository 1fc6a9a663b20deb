import { CallCancelled } from '@parley/protocol/wire'
import { expect, test } from 'vitest'
import { whyCancelled } from './why-cancelled.ts'

test.each([
  'request timeout',
  'McpError: MCP error -32001: Request timed out',
  'tools/call was not answered within 500 ms',
  'Time-out',
  'MCP response future dropped',
])('a client that waits no longer (%s) has not taken its call back', (reason) => {
  expect(whyCancelled({ reason })).not.toBeInstanceOf(CallCancelled)
})

test.each(['AbortError: This operation was aborted', 'user pressed escape', '', 7])(
  'one that says anything else (%s) has',
  (reason) => {
    expect(whyCancelled({ reason })).toBeInstanceOf(CallCancelled)
  },
)

test('a relay says that its client was cut off, whatever the reason is; without a reason it is taken back', () => {
  expect(whyCancelled({ reason: 'aborted', _meta: { 'parley/cut_off': true } })).not.toBeInstanceOf(CallCancelled)
  expect(whyCancelled({})).toBeInstanceOf(CallCancelled)
})
