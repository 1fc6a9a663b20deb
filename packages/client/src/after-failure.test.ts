import { RpcError, ToolError } from '@parley/protocol'
import { WireError } from '@parley/rpc'
import { expect, test } from 'vitest'
import { type AfterFailure, afterFailure } from './after-failure.ts'

const wire = (code: ConstructorParameters<typeof WireError>[0], status?: number): WireError =>
  new WireError(code, code, status === undefined ? {} : { status })

test.each<readonly [unknown, AfterFailure]>([
  [wire('closed'), 'reconnect'],
  [wire('timeout'), 'reconnect'],
  [wire('stream_lost'), 'reconnect'],
  [wire('session_lost'), 'reconnect'],
  [wire('unreachable'), 'reconnect'],
  [wire('overloaded'), 'wait'],
  [wire('unauthorized', 401), 'refused'],
  [wire('aborted'), 'final'],
  [wire('too_large'), 'final'],
  [wire('bad_message'), 'final'],
  [wire('unsupported_version'), 'final'],
  [wire('cannot_answer'), 'final'],
  [wire('too_many_rounds'), 'final'],
  [wire('http_status'), 'reconnect'],
  ...([404, 408, 425, 500, 502, 503, 504] as const).map((status) => [wire('http_status', status), 'reconnect'] as const),
  [wire('http_status', 429), 'wait'],
  ...([301, 400, 405, 413, 415, 431] as const).map((status) => [wire('http_status', status), 'final'] as const),
  [new RpcError('overloaded', 'too much'), 'wait'],
  [new RpcError('internal_error', 'broken'), 'final'],
  [new ToolError('rate_limited', 'slow down'), 'wait'],
  [new ToolError('unavailable', 'no database'), 'wait'],
  [new ToolError('internal', 'broken'), 'few'],
  [new ToolError('not_found', 'no'), 'final'],
  [new ToolError('lease_lost', 'no'), 'final'],
  [new ToolError('quota_exceeded', 'no'), 'final'],
  [new TypeError('a bug of ours'), 'final'],
  ['not even an error', 'final'],
])('%s: %s', (error, after) => expect(afterFailure(error)).toBe(after))
