import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CGROUP2_ANSWERS, readAnswers } from '../testing/cgroup2-answers.ts'
import { type Scratch, scratch } from '../testing/scratch.ts'
import { quoted } from '../testing/machine/guest-init.ts'
import { ownCgroup2 } from '../testing/machine/own-cgroup2.ts'
import { bootUml, probeUml, UML_KERNEL } from '../testing/machine/uml.ts'
import { skipAloud } from '../testing/skip-aloud.ts'

const run = promisify(execFile)
const MAIN = join(import.meta.dirname, '..', 'testing', 'cgroup2-main.ts')
const WHAT = 'limits by cgroup 2 (`npm run verify` tries them in an emulated machine)'
const INSTALL = 'on Debian: apt-get install user-mode-linux'
const asRoot = process.getuid?.() === 0
/** Where set-up installs it, its absence is a failure of set-up. */
const isInstalled = process.platform === 'linux' && process.arch === 'x64' && (asRoot || process.env['CI'] === 'true')
/** A probe and the real thing. */
const TIMEOUT_MS = 270_000

let from: Scratch

beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

test(
  'a cgroup of version 2 holds memory, processes and time, and is gone with its box',
  { timeout: TIMEOUT_MS },
  async (context) => {
    // Compiled here: a machine that is booted has this one's files to read, and a tenth of its speed.
    const cacheFolder = join(from.folder, 'cache')
    await from.open({ cacheFolder })
    if (asRoot && ownCgroup2()?.holds === true) {
      const { stdout } = await run(process.execPath, [MAIN, cacheFolder, from.folder])
      expect(readAnswers(stdout)).toEqual(CGROUP2_ANSWERS)
      return
    }
    const uml = { kernel: UML_KERNEL, folder: from.folder }
    if (!existsSync(UML_KERNEL)) {
      const missing = `this machine has no cgroup 2 of its own, and ${UML_KERNEL} is not there (${INSTALL})`
      if (isInstalled) throw new Error(missing)
      skipAloud(context, WHAT, missing)
    }
    const probe = await probeUml(uml)
    if (probe.kind === 'cannot-run') skipAloud(context, WHAT, probe.reason)
    // Its root takes a helper from nobody else, and this machine's files belong to whoever runs the tests.
    const own = `mkdir -m 700 /run/cache && cp ${quoted(cacheFolder)}/* /run/cache`
    const words = [process.execPath, MAIN, '/run/cache', from.folder]
    const { said } = await bootUml(uml, `${own} && ${words.map(quoted).join(' ')}`)
    expect(readAnswers(said)).toEqual(CGROUP2_ANSWERS)
  },
)

test(
  'a hierarchy of version 2 that holds neither memory nor processes is not relied on, and nothing of ours stays in it',
  { timeout: TIMEOUT_MS },
  async (context) => {
    const own = ownCgroup2()
    const what = 'a machine whose memory and processes are in no hierarchy that we can write'
    if (!asRoot) skipAloud(context, what, 'only root can take the other hierarchies out of sight')
    if (own === null || own.holds) skipAloud(context, what, 'this machine has no hierarchy of version 2 without them')
    const cacheFolder = join(from.folder, 'cache')
    await from.open({ cacheFolder })
    const words = [process.execPath, MAIN, cacheFolder, from.folder, own.at, join(from.folder, 'boxes')]
    // In mounts of its own, so that nobody else misses the hierarchies of version 1.
    const script = `mount --make-rprivate / && umount -a -t cgroup && exec ${words.map(quoted).join(' ')}`
    const { stdout } = await run('unshare', ['--mount', '/bin/sh', '-c', script])
    const { missing: _, ...held } = CGROUP2_ANSWERS
    expect(readAnswers(stdout)).toMatchObject({ ...held, tier: 'namespaces', while: null })
  },
)

describe('whether user-mode Linux runs here is found out by running it', () => {
  const probeOf = async (name: string, lines: readonly string[]): ReturnType<typeof probeUml> => {
    const kernel = join(from.folder, name)
    await writeFile(kernel, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
    return probeUml({ kernel, folder: from.folder })
  }

  test('a processor whose registers it cannot set: the reason is what it said', async () => {
    const said = ['Core dump limits :', 'userspace - ptrace set fp regs failed, errno = 22', 'Kernel panic - not syncing']
    const kernel = await probeOf('panics', [...said.map((line) => `echo ${quoted(line)}`), 'kill -ABRT $$'])
    expect(kernel).toEqual({
      kind: 'cannot-run',
      reason: `${join(from.folder, 'panics')} ended before it had run a program: ${said.join(' | ')}`,
    })
  })

  test('one that only complains on standard error, and leaves a process behind', async () => {
    const kernel = await probeOf('complains', ['echo cannot do it >&2', 'sleep 7532 &', 'exit 1'])
    expect(kernel).toMatchObject({ kind: 'cannot-run', reason: expect.stringContaining(': cannot do it') })
  })

  test('one that says nothing', async () => {
    expect(await probeOf('silent', ['exit 0'])).toMatchObject({
      kind: 'cannot-run',
      reason: expect.stringContaining('it said nothing'),
    })
  })

  test('one that runs a program', async () => {
    // Of what the first process is told to do, the one line that is a program of ours.
    const lines = ['for word; do case $word in init=*) init=${word#init=};; esac; done', 'grep console.log "$init" | sh']
    expect(await probeOf('obeys', lines)).toEqual({ kind: 'runs' })
  })

  test('a machine that gives no answers, or others, is a failure', () => {
    expect(() => readAnswers('boot\nKernel panic\n')).toThrow('the machine gave no answers: boot\nKernel panic')
    expect(readAnswers('boot\nanswers: {"tier":"namespaces"}\nend\n')).toEqual({ tier: 'namespaces' })
  })
})
