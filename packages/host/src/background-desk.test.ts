import { AgentClaim, messageOf } from '@parley/protocol'
import { expect, test } from 'vitest'
import { openBackgroundDesk } from './background-desk.ts'

const CLAIM = AgentClaim.parse({ agent_id: `agt_${'0'.repeat(26)}`, claim_id: '7' })

test('who may begin none is told why, and nothing is written down or held', async () => {
  const asked: string[] = []
  let changes = 0
  const desk = openBackgroundDesk({
    claim: CLAIM,
    call: (name) => Promise.reject(new Error(`${asked.push(name)} asked`)),
    signal: new AbortController().signal,
    changed: () => (changes += 1),
    refusal: ({ key }) => (key === 'engine' ? 'this turn is over' : undefined),
  })
  await expect(desk.begin('m_echo', {}, { key: 'engine' })).rejects.toMatchObject({
    code: 'conflict',
    message: 'this turn is over',
  })
  expect([asked, desk.running, changes]).toEqual([[], 0, 0])
  expect(await desk.begin('m_echo', {}, { key: 'client' }).catch(messageOf)).toBe('1 asked')
  expect([asked, desk.running, changes]).toEqual([['host.call_begin'], 0, 1])
})
