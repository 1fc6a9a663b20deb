// npm run verify [PART…] [-- --changed] [-- --list]: every foreign version and program that takes too long for `npm test`.
// The last line says `N passed, N failed`, as that of `npm test` does.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { loadRooms } from '../check/rooms.ts'
import { stopSignal } from '../run/stop-signal.ts'
import { runTethered } from '../run/tethered.ts'
import { type Counts, closingLine, sumOf, withFailure } from '../test/counts.ts'
import { environment } from '../test/environment.ts'
import { countReport } from '../test/vitest-report.ts'
import { readArguments } from './arguments.ts'
import { type Choice, choose, fit } from './choice.ts'
import { changesSinceLanding } from './landed.ts'
import { filesOf, PARTS, type Part } from './part.ts'

/** All parts together. */
const LIMIT_MINUTES = 60
/** Those that a change touches, in CI. */
const CHANGED_LIMIT_MINUTES = 20
const MINUTE_MS = 60_000

const root = dirname(dirname(import.meta.dirname))
const asked = readArguments(process.argv.slice(2))
if (asked.kind === 'help' || asked.kind === 'wrong') {
  process.stderr.write(`${asked.words}\n`)
  process.exitCode = asked.kind === 'help' ? 0 : 2
} else if (asked.kind === 'list') {
  for (const { name, what, minutes, rooms } of PARTS) say(`${name.padEnd(10)} ${what} (${rooms.join(', ')}; ${minutes} minutes)`)
} else {
  await verify(asked.isChanged ? changedOf(asked.parts) : allOf(asked.parts), asked.isChanged)
}

function allOf(parts: readonly Part[]): Choice {
  return { run: parts.map((part) => ({ part, why: 'asked for' })), leftOut: [] }
}

function changedOf(parts: readonly Part[]): Choice {
  const changes = changesSinceLanding(root)
  say(`verify: ${changes.words}`)
  const choice =
    changes.kind === 'unknown'
      ? { run: parts.map((part) => ({ part, why: 'what changed is not known' })), leftOut: [] }
      : choose(parts, changes.files, loadRooms(root))
  return fit(choice, CHANGED_LIMIT_MINUTES)
}

async function verify(choice: Choice, isChanged: boolean): Promise<void> {
  for (const { part, why } of choice.run) say(`verify: ${part.name} is run: ${why}`)
  for (const { part, why } of choice.leftOut) say(`verify: ${part.name} is LEFT OUT: ${why}`)
  const deadline = performance.now() + (isChanged ? CHANGED_LIMIT_MINUTES : LIMIT_MINUTES) * MINUTE_MS
  const signal = stopSignal()
  const lines: string[] = []
  const counts: Counts[] = []
  for (const { part } of choice.run) {
    if (signal.aborted) break
    const started = performance.now()
    const found = await runPart(part, deadline - started, signal)
    counts.push(found)
    lines.push(`${part.name.padEnd(10)} ${closingLine(found)} (${Math.round((performance.now() - started) / 1000)} s)`)
  }
  for (const line of lines) say(line)
  const sum = withFailure(sumOf(counts), signal.aborted ? 1 : 0)
  say(closingLine(sum))
  process.exitCode = sum.failed === 0 ? 0 : 1
}

async function runPart(part: Part, limitMs: number, signal: AbortSignal): Promise<Counts> {
  const files = filesOf(part, root)
  if (files.length === 0) return failure(`${part.name}: no file matches ${part.files.join(', ')}`)
  if (limitMs <= 0) return failure(`${part.name}: the time was up before it began`)
  const scratch = mkdtempSync(join(tmpdir(), 'parley-verify-'))
  try {
    const report = join(scratch, 'tests.json')
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const config = join(import.meta.dirname, 'vitest.config.ts')
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const args = [vitest, 'run', '--config', config, ...reporters, ...files]
    const { status, by } = await runTethered({
      args,
      cwd: root,
      // A version that cannot be had was not verified: that is a failure here, never a skip.
      env: { ...environment(root, scratch), CI: 'true' },
      output: 'inherit',
      limitMs,
      signal,
    })
    if (by === 'time') say(`verify: ${part.name} was ended: the time is up`)
    return countReport(report, by === 'itself' ? status : 1)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function failure(words: string): Counts {
  say(`verify: ${words}`)
  return { passed: 0, failed: 1, skipped: 0 }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
