import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '@parley/protocol'
import { describe, expect, test } from 'vitest'
import { OBSERVED_VERSIONS, type RecordedLine } from '../registry/registry-types.ts'
import { inFixedOrder } from './fixed-order.ts'
import { parseRecording } from '../testing/traffic.ts'

const event = (requestId: number, type: string, more: JsonObject = {}): RecordedLine => ({
  dir: '<',
  message: { method: 'codex/event', params: { _meta: { requestId }, msg: { type, ...more } } },
})
const answer = (id: number): RecordedLine => ({ dir: '<', message: { id, result: {} } })
const sent: RecordedLine = { dir: '>', message: { id: 9, method: 'tools/call', params: {} } }

const [configured, update, complete, warning, started, ended] = [
  event(2, 'session_configured'),
  event(2, 'mcp_startup_update'),
  event(2, 'mcp_startup_complete'),
  event(2, 'warning'),
  event(2, 'task_started'),
  event(2, 'task_complete'),
]

test.for([
  ['at once', [configured, update, complete, warning, started, ended]],
  ['beside the turn', [configured, warning, update, started, complete, ended]],
  ['last before its end', [configured, warning, started, update, complete, ended]],
] as const)('the start of MCP servers stands before the turn that it runs beside: %s', ([, lines]) => {
  expect(inFixedOrder(lines)).toEqual([configured, update, complete, warning, started, ended])
})

test.for([
  ['the start told backwards', [configured, complete, update, warning, started, ended]],
  ['the start before the conversation', [complete, configured, warning, started, ended]],
  ['the start after the end of the turn', [configured, warning, started, ended, complete]],
  ['the turn told backwards', [configured, complete, started, warning, ended]],
  ['the start after something else was asked', [configured, warning, sent, complete, started, ended]],
] as const)('what does not run at once keeps its order: %s', ([, lines]) => {
  expect(inFixedOrder(lines)).toEqual(lines)
})

test('calls at once stand one after the other, each in its own order', () => {
  const one = [event(2, 'session_configured'), event(2, 'task_started'), event(2, 'task_complete'), answer(2)] as const
  const other = [event(10, 'session_configured'), event(10, 'task_complete'), event(10, 'task_started'), answer(10)] as const
  const mixed = [other[0], one[0], one[1], other[1], other[2], one[2], other[3], one[3]]
  expect(inFixedOrder(mixed)).toEqual([...one, ...other])
})

describe.each(OBSERVED_VERSIONS)('Codex %s', (version) => {
  test('every recording is in that order', () => {
    const folder = new URL(`../../contracts/recordings/${version}/`, import.meta.url)
    const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      const { lines } = parseRecording(readFileSync(new URL(name, folder), 'utf8'))
      expect({ name, lines: inFixedOrder(lines) }).toEqual({ name, lines })
    }
  })
})
