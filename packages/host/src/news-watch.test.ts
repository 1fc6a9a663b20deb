import { AGENT_LIMITS, AgentId, ToolError } from '@parley/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { NewsWatch } from './news-watch.ts'

afterEach(() => void vi.useRealTimers())

test.each([
  ['invalid_argument', 1],
  ['not_found', 1],
  ['unavailable', 4],
] as const)('a change that is refused with %s is told so often: %i', async (code, times) => {
  vi.useFakeTimers()
  const ending = new AbortController()
  const logged: string[] = []
  let told = 0
  const watch = new NewsWatch({
    claim: { agent_id: AgentId.parse(`agt_${'0'.repeat(26)}`), claim_id: '1' },
    call: () => {
      told += 1
      return Promise.reject(new ToolError(code, 'not that'))
    },
    signal: ending.signal,
    listens: ['test://a'],
    log: (_level, message) => logged.push(message),
    changed: () => undefined,
  })
  watch.shelf.updated('test://a', 1, { isCertain: true, read: () => Promise.resolve('x') })
  await vi.advanceTimersByTimeAsync(AGENT_LIMITS.tellNewsMs * 3.5)
  expect([told, logged.length]).toEqual([times, times])
  ending.abort()
})
