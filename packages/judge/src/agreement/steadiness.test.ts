import { openSandbox } from '@parley/sandbox'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CAGE_CACHE } from '../fixture/cage-cache.ts'
import { judge, verdictsOf, writeCases } from '../hostile/fixture/job.ts'
import { openTester } from '../index.ts'
import type { Tester } from '../tester.ts'

const BURNS = readFileSync(join(import.meta.dirname, '../../fixtures/agreement/burns.c'), 'utf8')
const LIMIT_MS = 200
const TIMES = 50

const folder = mkdtempSync(join(tmpdir(), 'parley-steadiness-'))
const load: ChildProcess[] = []
let tester: Tester

beforeAll(async () => {
  tester = await openTester({
    sandbox: await openSandbox({
      driver: 'auto',
      cacheFolder: CAGE_CACHE,
      runFolder: join(folder, 'run'),
    }),
    cores: 2,
    cacheFolder: join(folder, 'cache'),
    searchPath: (process.env['PATH'] ?? '').split(delimiter),
    nodePath: process.execPath,
  })
  for (let core = 0; core < availableParallelism(); core += 1) load.push(spawn(process.execPath, ['-e', 'for (;;) {}']))
})

afterAll(async () => {
  const ended = load.map((child) => once(child, 'exit'))
  for (const child of load) child.kill('SIGKILL')
  await Promise.all(ended)
  await tester?.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  [0.75, 'AC'],
  [1.3, 'TLE'],
] as const)('%s of the limit is %s every time, while every core is busy', { timeout: 180_000 }, async (part, verdict) => {
  const inputFolder = join(folder, `job-${part}`)
  const burnt = { input: `${part * LIMIT_MS * 1_000}\n`, expected: 'done\n' }
  await writeCases(
    inputFolder,
    Array.from({ length: TIMES }, () => burnt),
  )
  const report = await judge(tester, {
    language: 'c',
    code: BURNS,
    inputFolder,
    timeMs: LIMIT_MS,
    memoryMb: 64,
    outputBytes: 1_024,
  })
  expect(load.every(({ exitCode, signalCode }) => exitCode === null && signalCode === null)).toBe(true)
  expect(verdictsOf(report)).toEqual(Array.from({ length: TIMES }, () => verdict))
})
