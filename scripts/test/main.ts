// npm test [-- PATH…]: the checks and every test, or only the tests whose path contains one of PATH.
// The last line says `N passed, N failed`; each static check counts as one.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Counts, closingLine, NOTHING, sumOf, withFailure } from './counts.ts'
import { environment } from './environment.ts'
import { countReport } from './vitest-report.ts'

const root = dirname(dirname(import.meta.dirname))
const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'))
const paths = process.argv.slice(2)
try {
  const counts = sumOf([paths.length === 0 ? runChecks() : NOTHING, runTests()])
  process.stdout.write(`${closingLine(counts)}\n`)
  process.exitCode = counts.failed === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function runChecks(): Counts {
  const report = join(scratch, 'checks.json')
  const status = runNode(['scripts/check/main.ts', '--report', report])
  return withFailure(readChecks(report), status)
}

function readChecks(path: string): Counts {
  try {
    const report: unknown = JSON.parse(readFileSync(path, 'utf8'))
    const found = new Map<string, unknown>(typeof report === 'object' && report !== null ? Object.entries(report) : [])
    return { passed: Number(found.get('passed') ?? 0), failed: Number(found.get('failed') ?? 1), skipped: 0 }
  } catch {
    return NOTHING
  }
}

function runTests(): Counts {
  const report = join(scratch, 'tests.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const status = runNode([vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...paths])
  return countReport(report, status)
}

function runNode(args: readonly string[]): number {
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: environment(root, scratch) }).status ?? 1
}
