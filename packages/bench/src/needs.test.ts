import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MAIN = join(import.meta.dirname, 'main.ts')
const SOAK = join(import.meta.dirname, 'soak/main.ts')

const LIMIT = { timeout: 120_000 }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-needs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** On a machine that has only what stands in the folder. */
function run(file: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): SpawnSyncReturns<string> {
  const env = { PATH: folder, HOME: folder, ...more }
  return spawnSync(process.execPath, [file, ...args], { env, cwd: folder, encoding: 'utf8' })
}

function program(name: string, text: string): void {
  writeFileSync(join(folder, name), text)
  chmodSync(join(folder, name), 0o755)
}

test('a benchmark says which programs are missing and how to get them, and nothing is measured', LIMIT, () => {
  program('taskset', '#!/bin/sh\n')
  expect(run(MAIN, ['gateway', 'judge', '--only', 'floor'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: `gateway: missing: wrk. To install: apt-get install wrk   (or what your system calls them)
judge: missing: cc, g++, python3. To install: apt-get install gcc g++ python3   (or what your system calls them)
`,
  })
})

test('a soak does the same', LIMIT, () => {
  expect(run(SOAK, ['jobs'])).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^jobs: missing: cc, g\+\+, python3\. To install/),
  })
})

test.each([
  ['dies of an instruction that it does not know', '#!/bin/sh\nkill -ILL $$\n', 'SIGILL'],
  ['is none that can be started', '\u007fELF', '12[67]|ENOEXEC'],
])('what needs a program that %s is left out aloud', LIMIT, (_, text, reason) => {
  program('taskset', '#!/bin/sh\n')
  program('wrk', text)
  expect(run(MAIN, ['gateway', '--only', 'floor'])).toMatchObject({
    status: 0,
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(String.raw`^\*\*\* gateway is SKIPPED: wrk cannot run on this processor \((${reason})\)\n$`),
    ),
  })
})

test('a peer that cannot be had is told in words', LIMIT, () => {
  program('taskset', '#!/bin/sh\n')
  const npm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim()
  symlinkSync(npm, join(folder, 'npm'))
  symlinkSync(process.execPath, join(folder, 'node'))
  const nobody = {
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_fetch_retries: '0',
    PARLEY_PEERS_DIR: join(folder, 'peers'),
  }
  const { status, stdout, stderr } = run(MAIN, ['store'], nobody)
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
  expect(stderr).toMatch(/^store: peer graphile-worker could not be installed:\n/)
  expect(stderr).not.toMatch(/^ +at /m)
})
