import { createLogger } from '@parley/access'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '@parley/store'
import { afterAll, expect, test } from 'vitest'
import { openSweeper } from './sweep.ts'

const folder = await mkdtemp(join(tmpdir(), 'parley-sweep-'))
const store = await openStore({ url: `sqlite:${join(folder, 'parley.db')}` })
const logged: string[] = []
const log = createLogger({ level: 'debug', destination: { write: (line: string) => void logged.push(line) }, secrets: [] })
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

test('a sweep that is stopped ends what it began, and begins nothing more', async () => {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const seen: string[] = []
  const usages = {
    settleStale: (before: number) => store.usages.settleStale(before),
    fold: (before: number) => store.usages.fold(before),
    prune: async (before: number) => {
      reached.resolve()
      await released.promise
      seen.push('usages')
      return store.usages.prune(before)
    },
  }
  const jobs = {
    sweep: () => {
      seen.push('jobs')
      return store.jobs.sweep()
    },
  }
  const sweeper = openSweeper({ ...store, usages, jobs }, log, Date.now, null)
  await reached.promise
  const stopped = sweeper.stop().then(() => seen.push('stopped'))
  released.resolve()
  await stopped
  expect(seen).toEqual(['usages', 'stopped'])
  expect(logged).toEqual([])
})
