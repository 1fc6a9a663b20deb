// npm test [-- PATH…]: the checks and every test, or only the tests whose path contains one of PATH.
// The last line says `N passed, N failed`; each static check counts as one.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findRuntime, missingRuntime } from '../bin/runtime.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const node = findRuntime(join(root, 'package.json'))
if (node === undefined) {
  process.stderr.write(`${missingRuntime()}\n`)
  process.exit(1)
}

const scratch = mkdtempSync(join(tmpdir(), 'parley-test-'))
const paths = process.argv.slice(2)
const counts = { passed: 0, failed: 0, skipped: 0 }
try {
  if (paths.length === 0) add(runChecks())
  add(runTests(paths))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1

function runChecks() {
  const report = join(scratch, 'checks.json')
  const status = runNode(['scripts/check/main.ts', '--report', report])
  return withFailure(readReport(report) ?? {}, status)
}

function runTests(filters) {
  const report = join(scratch, 'tests.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const status = runNode([vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...filters])
  const results = readReport(report)
  if (results === undefined) return withFailure({}, status === 0 ? 1 : status)
  const broken = results.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
  const passed = results.numPassedTests
  const failed = results.numFailedTests + broken.length
  return withFailure(
    { passed, failed, skipped: results.numPendingTests + results.numTodoTests },
    passed + failed === 0 ? 1 : status,
  )
}

/** A run that ended badly counts as a failure even if every single result looks good: an error outside any test, a crash. */
function withFailure({ passed = 0, failed = 0, skipped = 0 }, status) {
  return { passed, failed: status !== 0 && failed === 0 ? 1 : failed, skipped }
}

function add(more) {
  for (const key of Object.keys(counts)) counts[key] += more[key]
}

/**
 * Everything below runs on the right Node, also what calls `node` by name. The hundreds of processes that the tests start
 * keep what they compiled for the next one: without that, half of the time goes into reading the same files again.
 */
function runNode(args) {
  const PATH = `${join(root, 'node_modules/.bin')}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}`
  const env = { NODE_COMPILE_CACHE: join(scratch, 'compiled'), ...process.env, PATH }
  return spawnSync(node, args, { cwd: root, stdio: 'inherit', env }).status ?? 1
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}
