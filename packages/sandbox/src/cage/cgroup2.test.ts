import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Scratch, scratch } from '../testing/fixtures.ts'

// A Linux kernel that is an ordinary program, so that cgroup 2 is tried whatever this machine has.
const KERNEL = '/usr/bin/linux.uml'
const MAIN = join(import.meta.dirname, '..', 'testing', 'cgroup2-main.ts')
const MARK = 'answers: '
const BOUND_MS = 60_000
const CONSOLE_BYTES = 1 << 20

let from: Scratch

beforeAll(async () => {
  from = await scratch()
})
afterAll(() => from[Symbol.asyncDispose]())

const present = existsSync(KERNEL)
if (!present)
  console.warn(`SKIPPED: cgroup 2 is not tested, since ${KERNEL} is not there (on Debian: apt-get install user-mode-linux)`)

test.runIf(present)(
  'a cgroup of version 2 holds memory, processes and time, and is gone with its box',
  { timeout: BOUND_MS + 10_000 },
  async () => {
    const cacheFolder = join(from.folder, 'cache')
    // Compiled here: the machine below has this one's files to read, and a tenth of its speed.
    await from.open({ cacheFolder })
    const said = await boot(`'${process.execPath}' '${MAIN}' '${cacheFolder}' '${from.folder}' '${MARK}'`)
    const line = said.split('\n').find((text) => text.startsWith(MARK))
    if (line === undefined) throw new Error(`the machine gave no answer: ${said}`)
    expect(JSON.parse(line.slice(MARK.length))).toEqual({
      tier: 'namespaces+cgroup2',
      missing: [],
      plain: { status: 'ok', text: '7\n' },
      held: { status: 'ok', text: 'held\n' },
      hog: 'memory-limit',
      children: 'memory-limit',
      tooMany: 'process-limit',
      unwaited: 'cpu-limit',
      after: 'ok',
      while: ['parley: memory pids'],
      closed: [],
    })
  },
)

/** Boots the kernel on this machine's files, read-only, has it run one command, and answers all that came on its console. */
async function boot(command: string): Promise<string> {
  const init = join(from.folder, 'init')
  const devices = ['null 3', 'zero 5', 'full 7', 'random 8', 'urandom 9'].map((words) => {
    const [name, minor] = words.split(' ')
    return `mknod -m 666 /dev/${name} c 1 ${minor}`
  })
  const lines = [
    '#!/bin/sh',
    'export PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    'mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t cgroup2 none /sys/fs/cgroup',
    'mount -t tmpfs run /run && mount -t tmpfs tmp /dev',
    ...devices,
    `${command} 2>&1`,
    'echo o > /proc/sysrq-trigger',
    'sleep 10',
  ]
  await writeFile(init, `${lines.join('\n')}\n`, { mode: 0o755 })
  const words = ['root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'ro', 'mem=1G', `init=${init}`, `uml_dir=${from.folder}`]
  // Its processes are in a group of their own, so that all of them can be ended.
  const machine = spawn(KERNEL, [...words, 'con=null', 'con0=null,fd:1', 'ssl=null', 'quiet'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { TMPDIR: from.folder },
    detached: true,
  })
  let said = ''
  machine.stdout.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString().replaceAll('\r', '')).slice(-CONSOLE_BYTES)
  })
  const timer = setTimeout(() => endGroup(machine.pid), BOUND_MS)
  await once(machine, 'close')
  clearTimeout(timer)
  endGroup(machine.pid)
  await expect.poll(() => aliveIn(machine.pid)).toEqual([])
  return said
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // There is nobody left in it.
  }
}

/** The processes of a group, without those that are dead and only not yet collected. */
function aliveIn(group: number | undefined): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return state !== 'Z' && state !== 'X' && Number(itsGroup) === group
    } catch {
      return false
    }
  })
}
