import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, openScratch } from './testing/scratch.ts'

const root = dirname(import.meta.dirname)

/** The real `.ci/run` in a folder with a space, where `npm` says and does what is written here. */
function run(project: Scratch, commands: { readonly test: string; readonly verify: string }) {
  const npm = `#!/bin/sh\ncase "$*" in\n  test) ${commands.test} ;;\n  'run verify -- --changed') ${commands.verify} ;;\n  *) exit 9 ;;\nesac\n`
  project.write('bin/npm', npm)
  chmodSync(join(project.root, 'bin/npm'), 0o755)
  cpSync(join(root, '.ci/run'), join(project.root, 'a clone/.ci/run'))
  project.write('tmp/kept', '')
  const env = { PATH: `${join(project.root, 'bin')}:${process.env['PATH'] ?? ''}`, TMPDIR: join(project.root, 'tmp') }
  const { status, stdout } = spawnSync(join(project.root, 'a clone/.ci/run'), { env, encoding: 'utf8' })
  expect(readdirSync(join(project.root, 'tmp'))).toEqual(['kept'])
  return { status, lines: stdout.trimEnd().split('\n') }
}

const says = (line: string, status = 0): string => `echo '${line}'; exit ${status}`

test.each([
  ['both are well', says('4 passed, 0 failed'), says('2 passed, 0 failed, 1 skipped'), 0, '6 passed, 0 failed, 1 skipped'],
  [
    'verify has nothing to do',
    says('4 passed, 0 failed, 2 skipped'),
    says('0 passed, 0 failed'),
    0,
    '4 passed, 0 failed, 2 skipped',
  ],
  ['verify fails', says('4 passed, 0 failed'), says('2 passed, 3 failed', 1), 1, '6 passed, 3 failed'],
  ['verify ends without its line', says('4 passed, 0 failed'), says('killed', 137), 1, '4 passed, 1 failed'],
  ['verify says nothing at all', says('4 passed, 0 failed'), 'exit 0', 1, '4 passed, 1 failed'],
  ['a line is good and the exit code is not', says('4 passed, 0 failed'), says('2 passed, 0 failed', 1), 1, '6 passed, 0 failed'],
])('when %s the last line is the sum', (_, tests, verify, status, last) => {
  using project = openScratch()
  const ended = run(project, { test: tests, verify })
  expect({ status: ended.status, last: ended.lines.at(-1) }).toEqual({ status, last })
})

test('when npm test fails verify is not run, and that is said', () => {
  using project = openScratch()
  expect(run(project, { test: says('4 passed, 2 failed', 1), verify: says('never') })).toEqual({
    status: 1,
    lines: ['4 passed, 2 failed', 'verify: NOT RUN, since npm test has failed', '4 passed, 2 failed'],
  })
})
