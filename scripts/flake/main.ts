// npm run flake -- [PATH…] [--times N] [--load] [--seed N] [--part NAME] | --resume: runs tests again and again, in random order, and
// lists what was not the same each time, what failed each time, and what went wrong outside of any test.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { CacheUnavailable, openCache } from '../cache/cache.ts'
import { stopSignal } from '../run/stop-signal.ts'
import { type Order, readArguments } from './arguments.ts'
import { keepBusy } from './busy.ts'
import { type RunResult, compareRuns } from './compare.ts'
import { type NotedRun, beginNotes, notesFolder, remaining, resumeNotes, withFinished, writeNotes } from './notes.ts'
import type { Notes } from './parse-notes.ts'
import { type PlannedPart, planParts, testFiles } from './plan.ts'
import { type FinishedPart, listFindings } from './report.ts'
import { runPart } from './run-part.ts'

const SEED_RANGE = 1_000_000
const INTERRUPTED = 130

const root = dirname(dirname(import.meta.dirname))
const signal = stopSignal()
process.exitCode = await main()

async function main(): Promise<number> {
  const asked = readArguments(process.argv.slice(2), 1 + Math.floor(Math.random() * SEED_RANGE))
  if (asked.kind === 'help') return tell(asked.words, 0)
  if (asked.kind === 'wrong') return tell(asked.words, 2)
  const cache = await openCache('flake').catch((error: unknown) => {
    if (error instanceof CacheUnavailable) return undefined
    throw error
  })
  if (cache === undefined) return tell('no cache can be written: set PARLEY_CACHE to a folder that can', 1)
  const home = notesFolder(cache, root)
  const noted = asked.kind === 'resume' ? resumeNotes(home) : begin(home, asked.order)
  if (noted === undefined) return tell(`there is no run to go on with in ${home}`, 2)
  const { folder, notes } = noted
  if (remaining(notes).length === 0 && notes.finished.length === 0) return tell(nothingToRun(notes), 2)
  if (asked.kind === 'resume' && notes.commit !== commitNow())
    say(`the run before was on ${notes.commit}, this is ${commitNow()}`)
  return run(folder, notes)
}

function begin(home: string, order: Order): NotedRun {
  return beginNotes(home, { order, commit: commitNow(), parts: planParts(testFiles(root, order.paths)) })
}

function nothingToRun({ order, parts }: Notes): string {
  if (parts.length === 0) return `no test has a path with ${order.paths.join(' or ')}`
  return `no part is called ${order.part ?? ''}; there are ${parts.map(({ name }) => name).join(', ')}`
}

async function run(folder: string, begun: Notes): Promise<number> {
  let notes = begun
  const { order } = notes
  await using _busy = order.load ? await keepBusy() : undefined
  say(
    `seed ${order.seed}, ${order.times} times${order.load ? ', every core busy' : ''}; ${notes.finished.length} parts were done before`,
  )
  for (const part of remaining(notes)) {
    const finished = await finish(folder, part, order)
    if (finished === undefined) return tell('stopped. To go on: npm run flake -- --resume', INTERRUPTED)
    notes = writeNotes(folder, withFinished(notes, finished))
  }
  const lines = listFindings(notes.finished, order)
  const tests = notes.finished.reduce((sum, part) => sum + part.tests, 0)
  for (const line of lines) say(line)
  if (lines.length > 0) return 1
  say(`nothing to list: ${tests} tests in ${notes.finished.length} parts, the same ${order.times} times`)
  return 0
}

async function finish(folder: string, part: PlannedPart, order: Order): Promise<FinishedPart | undefined> {
  const results: RunResult[] = []
  const logs: string[] = []
  for (let run = 1; run <= order.times; run += 1) {
    const log = join(folder, 'logs', `${part.name}-${run}.log`)
    const started = performance.now()
    const result = await runPart({ root, part, seed: order.seed + run - 1, log, signal })
    if (result === undefined) return undefined
    results.push(result)
    logs.push(log)
    say(lineOf(part, run, order, result, performance.now() - started, log))
  }
  const tests = new Set(results.flatMap((result) => Object.keys(result.tests ?? {}))).size
  return { name: part.name, tests, findings: compareRuns(results), logs }
}

function lineOf(
  part: PlannedPart,
  run: number,
  { times }: Order,
  { seed, tests = {}, outside }: RunResult,
  ms: number,
  log: string,
): string {
  const failed = Object.values(tests).filter(({ state }) => state === 'failed').length
  const how = `${Object.keys(tests).length} tests, ${failed} failed${outside.length > 0 ? `, ${outside.length} outside of any test` : ''}`
  return `${part.name} ${run}/${times} seed ${seed}: ${how} (${Math.round(ms / 1000)} s) ${log}`
}

function commitNow(): string {
  return spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim() || 'no commit'
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function tell(words: string, code: number): number {
  process.stderr.write(`${words}\n`)
  return code
}
