import type { AgentStatusItem, JobState } from '@parley/protocol'
import { expect, test } from 'vitest'
import { caseItems } from '../../testing/index.ts'
import { plainView } from './plain-view.ts'

const LIMITS = { time_limit_ms: 1_000, memory_limit_mb: 100 }
// The view looks at these fields of it.
const STATE = { job_id: 'job_1', status: 'running_test', title: '', waiting: null, limits: LIMITS } as unknown as JobState
const BEGUN: AgentStatusItem = {
  ts: '2026-01-01T00:00:00.000Z',
  job_id: 'job_00000000000000000000000000',
  attempt: 1,
  stage: 'test',
  level: 'info',
  summary: 'running 4 cases',
  progress: 0,
  meta: { done: 0, total: 4 },
  seq: '1',
}

test('cases that end in another order are counted up as they are done, by their names', () => {
  const lines: string[] = []
  const view = plainView(
    (text) => lines.push(text),
    () => {},
  )
  view.state(STATE)
  view.status(BEGUN)
  const items = caseItems({ cases: ['1', '2', '3', '4'].map((name) => ({ name, verdict: 'AC' })) })
  for (const [place, index] of [1, 0, 3, 2].entries()) {
    const item = items[index]
    const begins = place === 0 ? 'attempt' : 'nothing'
    if (item !== undefined) view.caseDone({ ...item, index, claim: 1, attempt: 1, total: items.length }, begins)
  }
  const places = lines.flatMap((line) => /^(\d\/\d) +(\d) +AC /.exec(line)?.slice(1, 3).join(' ') ?? [])
  expect(places).toEqual(['1/4 2', '2/4 1', '3/4 4', '4/4 3'])
})
