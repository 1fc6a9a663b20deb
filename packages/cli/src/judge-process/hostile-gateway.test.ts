import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@parley/protocol'
import { expect, test } from 'vitest'
import { LocalGateway } from '../fixture/local-gateway.ts'
import { Scratch } from '../fixture/parley.ts'
import { codeFor } from '../fixture/scripted-tester.ts'
import { through } from '../fixture/through.ts'
import { openTestWorker } from '../fixture/test-worker.ts'

/** A third of the shortest lease that is kept, and then some. */
const HEARTBEAT_MIN_MS = 20

test('inputs that would be written outside fail the job, and the judge lives on', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  const item = { path: 'tests/../../../../escaped', size: 1, sha256: 'a'.repeat(64) }
  let isHostile = true
  const connect = through(gateway, (call) => async (name, ...rest) => {
    const result = await call(name, ...rest)
    const { items } = result
    return isHostile && name === 'judge.input.list' && Array.isArray(items) ? { ...result, items: [...items, item] } : result
  })
  await using judge = await openTestWorker(gateway, scratch.folder, { connect })
  const id = await gateway.submit({ current_code: codeFor({}) })
  expect(await gateway.ended(id)).toMatchObject({ status: 'failed', error: { code: 'input_refused' } })
  expect(existsSync(join(scratch.folder, 'escaped'))).toBe(false)
  isHostile = false
  const next = await gateway.submit({ current_code: codeFor({}) })
  expect(await gateway.ended(next)).toMatchObject({ status: 'succeeded' })
  expect(judge.tester.seen).toHaveLength(1)
})

test('the same claim twice is not worked on twice, and a lease of nothing does not make it spin', async () => {
  await using scratch = new Scratch()
  await using gateway = await LocalGateway.open(scratch.data)
  let first: JsonObject | undefined
  let heartbeats = 0
  const startedAt = performance.now()
  const connect = through(gateway, (call) => async (name, ...rest) => {
    if (name === 'judge.heartbeat') heartbeats += 1
    const result = await call(name, ...rest)
    if (name !== 'judge.claim_next') return result
    if (result['claimed'] === true) first ??= { ...result, lease_ms: 0 }
    return first ?? result
  })
  await using judge = await openTestWorker(gateway, scratch.folder, { connect, slots: 4, limits: { claimWaitMs: 100 } })
  const id = await gateway.submit({ current_code: codeFor({ lines: 1, pauseMs: 600 }) })
  expect(await gateway.ended(id)).toMatchObject({ status: 'succeeded', claims: 1 })
  expect(judge.tester.most).toBe(1)
  expect(heartbeats).toBeLessThan(10 + (performance.now() - startedAt) / HEARTBEAT_MIN_MS)
  expect(judge.logged.join('\n')).toContain('the same claim twice')
  expect(readdirSync(judge.workFolder).filter((name) => /^judge-\w+$/.test(name))).toHaveLength(1)
})
