import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from './testing/scratch.ts'

const root = dirname(import.meta.dirname)

/** It takes its time where everything else runs too. */
const STARTS_VITEST = { timeout: 180_000 }

const GOOD = `import { test } from 'vitest'\ntest('holds', () => undefined)\n`
const BAD = `import { test } from 'vitest'\ntest('breaks', () => { throw new Error('no') })\n`
const STRAY = `import { test } from 'vitest'\ntest('holds', () => { setImmediate(() => { throw new Error('late') }) })\n`
const SKIPPING = `import { test } from 'vitest'\ntest('leaves', (context) => context.skip('not here'))\n`
const UNREADY = `import { beforeAll, test } from 'vitest'\nbeforeAll(() => { throw new Error('no') })\ntest('waits', () => undefined)\n`
const BROKEN = `import './not-there.ts'\n`
const NEVER = `throw new Error('the checks ran')\n`

/** A project with these tests and this in place of the checks, run by the real runner. */
function openProject(tests: Readonly<Record<string, string>>, checks: string): Scratch {
  const project = openScratch({ 'package.json': { name: 'tiny', type: 'module' }, 'scripts/check/main.ts': checks })
  for (const [name, text] of Object.entries(tests)) project.write(`packages/a/src/${name}.test.ts`, text)
  for (const path of ['bin', 'vitest.config.ts', 'scripts/test.js', 'scripts/test'])
    cpSync(join(root, path), join(project.root, path), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(project.root, 'node_modules'))
  return project
}

function checksThat(passed: number, failed: number): string {
  const report = JSON.stringify({ passed, failed })
  return `import { writeFileSync } from 'node:fs'\nwriteFileSync(process.argv[3] ?? '', '${report}')\nprocess.exitCode = ${failed === 0 ? 0 : 1}\n`
}

function lastLine(
  project: Scratch,
  ...paths: readonly string[]
): { readonly status: number | null; readonly last: string | undefined } {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV$|TEST$)/.test(name))
  const options = { cwd: project.root, env: Object.fromEntries(own), encoding: 'utf8' } as const
  const { status, stdout } = spawnSync(process.execPath, ['scripts/test.js', ...paths], options)
  return { status, last: stdout.trimEnd().split('\n').at(-1) }
}

test.each([
  [
    'all is well and a test is left out',
    { good: GOOD, skipping: SKIPPING },
    checksThat(9, 0),
    [],
    0,
    '10 passed, 0 failed, 1 skipped',
  ],
  [
    'checks, a test, the set-up of one and a file fail',
    { good: GOOD, bad: BAD, unready: UNREADY, broken: BROKEN },
    checksThat(7, 2),
    [],
    1,
    '8 passed, 5 failed, 1 skipped',
  ],
  ['the checks crash', { good: GOOD }, NEVER, [], 1, '1 passed, 1 failed'],
  ['something breaks outside of any test', { stray: STRAY }, checksThat(9, 0), [], 1, '10 passed, 1 failed'],
  ['only some tests are asked for', { good: GOOD, bad: BAD }, NEVER, ['good'], 0, '1 passed, 0 failed'],
  ['no test is found', { good: GOOD }, NEVER, ['nowhere'], 1, '0 passed, 1 failed'],
] as const)('when %s the last line and the exit code say so', STARTS_VITEST, (_, tests, checks, paths, status, last) => {
  using project = openProject(tests, checks)
  expect(lastLine(project, ...paths)).toEqual({ status, last })
})
