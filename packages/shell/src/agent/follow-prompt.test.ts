import { SteadyClient } from '@parley/client'
import { openServer, quick } from '@parley/client/testing'
import { AgentId, type JsonObject, PromptId } from '@parley/protocol'
import { expect, test } from 'vitest'
import { followPrompt } from './follow-prompt.ts'

const OF = {
  agent_id: AgentId.parse(`agt_${'0'.repeat(26)}`),
  prompt_id: PromptId.parse(`prm_${'0'.repeat(26)}`),
}
const NOTHING_READ: JsonObject = {
  agent_id: OF.agent_id,
  log: 'transcript',
  offset: 0,
  lines: [],
  start: 0,
  end: 0,
  next_offset: 0,
}

const promptThat = (status: string): JsonObject => ({
  ...OF,
  number: 1,
  text: 'go on',
  by: 'admin',
  woken_by: null,
  status,
  outcome: null,
  aborting: false,
  created_at: '2026-11-19T00:00:00.000Z',
  started_at: null,
  ended_at: null,
})

/** A server that answers waits with these statuses, one after the other, and notes how long each was to take. */
async function waitedFor(statuses: readonly string[], waitMs: number) {
  const asked: unknown[] = []
  await using server = await openServer((name, input) => {
    // Who waits for more of the transcript is left waiting.
    if (name !== 'agent.wait') return input['wait_ms'] === 0 ? NOTHING_READ : new Promise(() => undefined)
    const status = statuses[asked.push(input['wait_ms']) - 1] ?? 'running'
    return { prompt: promptThat(status), ended: status === 'completed' }
  })
  const caller = new SteadyClient(quick(server.connect('http')))
  const { signal } = new AbortController()
  const prompt = await followPrompt(caller, OF, { from: 0, waitMs, heard: () => undefined, signal })
  await caller.close()
  return { status: prompt.status, asked }
}

test('no call waits longer than one may, and a gateway that answers early is asked again', async () => {
  expect(await waitedFor(['running', 'running', 'completed'], 600_000)).toEqual({
    status: 'completed',
    asked: [30_000, 30_000, 30_000],
  })
})

test('when the time is up it is told as it is', async () => {
  const { status, asked } = await waitedFor([], 600)
  expect(status).toBe('running')
  expect(asked.length).toBeGreaterThan(1)
  expect(asked.at(-1)).toBeLessThan(600)
})
