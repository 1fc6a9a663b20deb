import { expect, test } from 'vitest'
import type { AuditEntries } from '@parley/store'
import { createLogger } from '../log/logger.ts'
import { type AuditLine, AuditUnavailable, openRecorder } from './recorder.ts'

/** An audit log that can be switched off, as a full disk would. */
function switchableLog() {
  const lines: AuditLine[] = []
  const state = { works: true }
  const unused = () => Promise.reject(new Error('not part of this test'))
  const audit: AuditEntries = {
    async append(entries) {
      await new Promise((resolve) => setImmediate(resolve))
      if (!state.works) throw new Error('disk full')
      lines.push(...entries)
    },
    search: unused,
    after: unused,
    prune: unused,
  }
  return { lines, state, audit }
}
const log = createLogger({ level: 'silent', destination: { write: () => undefined } })
let lines = 0
/** Of many actors, since one alone has a share only. */
const line = (action: string): AuditLine => ({
  at: 0,
  actor: `a${Math.floor((lines += 1) / 500)}`,
  role: 'user',
  action,
  target: null,
  outcome: 'ok',
  code: null,
  remote: null,
})

test('lines keep their order, and a recorded one is durable with all before it', async () => {
  const { lines, audit } = switchableLog()
  const recorder = openRecorder({ audit, log, now: () => 0 })
  for (let index = 0; index < 1_234; index += 1) recorder.note(line(`n${index}`))
  await recorder.record(line('last'))
  expect(lines.map(({ action }) => action)).toEqual([...Array.from({ length: 1_234 }, (_, index) => `n${index}`), 'last'])
  await recorder.close()
})

test('a failed write fails whoever waits for it, keeps the lines, and the next write brings them', async () => {
  const { lines, state, audit } = switchableLog()
  const recorder = openRecorder({ audit, log, now: () => 0 })
  state.works = false
  recorder.note(line('noted'))
  await expect(recorder.record(line('refused'))).rejects.toThrow(AuditUnavailable)
  state.works = true
  await recorder.record(line('later'))
  expect(lines.map(({ action }) => action)).toEqual(['noted', 'refused', 'later'])
  expect(recorder.counts()).toEqual({ waiting: 0, dropped: 0, failures: 1 })
  await recorder.close()
})

test('what waits is bounded, and what was dropped is said in the log itself', async () => {
  const { lines, state, audit } = switchableLog()
  const recorder = openRecorder({ audit, log, now: () => 0 })
  state.works = false
  for (let index = 0; index < 25_000; index += 1) recorder.note(line('n'))
  expect(recorder.counts()).toMatchObject({ waiting: 20_000, dropped: 5_000 })
  await expect(recorder.record(line('refused'))).rejects.toThrow(AuditUnavailable)
  await recorder.flush()
  state.works = true
  await recorder.flush()
  expect(lines).toHaveLength(20_001)
  expect(lines.find(({ action }) => action === 'audit.dropped')).toMatchObject({ target: '5000', outcome: 'failed' })
  await recorder.close()
})
