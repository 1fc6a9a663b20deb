import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RunRequest, Sandbox, SandboxOptions } from './index.ts'
import { ROOMY, type Scratch, scratch, shell, textOf } from './testing/scratch.ts'

type Way = Pick<SandboxOptions, 'driver' | 'tier'>
const WAYS: readonly Way[] = [
  ...(process.getuid?.() === 0 ? [{ driver: 'cage', tier: 'root' } as const] : []),
  { driver: 'cage', tier: 'user-namespaces' },
  { driver: 'cage', tier: 'landlock' },
  ...(existsSync('/usr/bin/bwrap') ? [{ driver: 'bwrap' } as const] : []),
]
const MIB = 1024 * 1024
const OWN = '/proc/self/mountinfo /proc/self/mounts /proc/self/mountstats /proc/self/cgroup /proc/mounts /proc/1/mountinfo'
/** What tools need of the machine, and what belongs to the box. */
const TOLD =
  /^(\d+|cgroups|cpuinfo|filesystems|loadavg|meminfo|mounts|net|self|stat|sys|sysvipc|thread-self|uptime|version|vmstat)$/

let from: Scratch
/** As a data folder has it: somebody's name on the way to a job. */
let place: string
let program: string

beforeAll(async () => {
  from = await scratch()
  place = realpathSync(mkdtempSync('/var/tmp/parley-ada-lovelace-'))
  mkdirSync(join(place, 'job'))
  program = join(place, 'job', 'program')
  // Larger than what was ever copied rather than shown.
  writeFileSync(program, Buffer.alloc(3 * MIB, 'x'), { mode: 0o755 })
})
afterAll(async () => {
  rmSync(place, { recursive: true, force: true })
  await from[Symbol.asyncDispose]()
})

const looks = (command: string): RunRequest => ({
  ...shell(`exec 2>/dev/null; ${command}`, { boxBytes: MIB }),
  files: [{ name: 'program', from: { path: program }, executable: true }],
})

describe.each(WAYS)('a program in $driver $tier', (way) => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await from.open({ ...way, runFolder: join(place, `run-${way.driver}-${way.tier}`) })
  })

  test('learns nothing of where its files and its box lie on the machine, or is said to', async () => {
    await using box = await sandbox.openBox({ kind: 'judge' })
    const outcome = await box.run(looks(`wc -c < program; cat ${OWN}; true`))
    const text = textOf(outcome)
    expect([outcome.status, text.startsWith(`${3 * MIB}\n`)]).toEqual(['ok', true])
    const isSaid = sandbox.report.missing.some((line) => line.includes('/proc/self/mountinfo'))
    expect([text.includes('ada-lovelace'), isSaid]).toEqual(way.driver === 'bwrap' ? [true, true] : [false, false])
    const groups = text.split('\n').filter((line) => /^\d+:[^:]*:/.test(line))
    expect(groups.filter((line) => !line.endsWith(':/'))).toEqual([])
  })

  test('has the room that it was given, whatever was put into its box', async () => {
    await using box = await sandbox.openBox({ kind: 'judge' })
    // Once more than the last time: what a run was given is not left to the next.
    for (let times = 0; times < 2; times++) {
      const wrote = await box.run(looks('head -c 900000 /dev/zero > made && wc -c < made'))
      expect(textOf(wrote)).toBe('900000\n')
    }
  })

  test('finds of /proc what tools need and nothing more', async () => {
    const folder = join(place, `work-${way.driver}-${way.tier}`)
    mkdirSync(folder)
    const isStrong = sandbox.start !== undefined
    await using work = await sandbox.openBox({ kind: 'workspace', folder, writable: isStrong })
    await using box = await sandbox.openBox({ kind: 'judge' })
    const open =
      'for f in *; do [ -L $f ] || { [ -d $f ] && [ -n "$(ls $f)" ] && echo $f; [ -f $f ] && (: < $f) && echo $f; }; done'
    for (const one of [work, box]) {
      const names = textOf(await one.run(shell(`exec 2>/dev/null; cd /proc && ${open}`, { cpuMs: 20_000 }))).split('\n')
      expect(names.filter((name) => name !== '' && !TOLD.test(name))).toEqual([])
    }
    const writes = 'for f in /proc/sysrq-trigger /proc/keys /proc/sys/kernel/core_pattern; do (: >> $f) && echo $f; done'
    expect(textOf(await work.run(shell(`exec 2>/dev/null; ${writes}`)))).toBe('')
  })
})

test('a command in a working folder still counts processors and memory', async () => {
  const sandbox = await from.open()
  if (sandbox.start === undefined) return
  const folder = join(place, 'counts')
  mkdirSync(folder)
  const node = realpathSync(process.execPath)
  await using box = await sandbox.openBox({ kind: 'workspace', folder, writable: true, readable: [node] })
  const counts =
    'const os = require("node:os"); console.log(os.cpus().length > 0, os.totalmem() > 0, os.loadavg().length, os.uptime() > 0)'
  const limits = { ...ROOMY, memoryBytes: 512 * MIB, cpuMs: 20_000 }
  const isNarrow = sandbox.report.tier === 'namespaces' && process.getuid?.() === 0
  const outcome = await box.run({ argv: [node, '-e', counts], limits })
  if (!isNarrow) expect(textOf(outcome)).toBe('true true 3 true\n')
  expect(readdirSync(folder)).toEqual(['.git'])
})
