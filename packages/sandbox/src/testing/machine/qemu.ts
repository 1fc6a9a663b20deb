import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Archive } from './archive.ts'
import { GUEST_MOUNTS } from './guest-init.ts'
import { type MachineRun, runMachine } from './machine-run.ts'

const run = promisify(execFile)
export const QEMU = '/usr/bin/qemu-system-x86_64'
const MEMORY_MIB = 1_536
const BOUND_MS = 600_000
const TOOLS = ['/bin/sh', '/bin/mount', '/bin/mknod', '/bin/sleep', '/usr/sbin/chroot']
const FOLDERS = ['/proc', '/sys', '/dev', '/run', '/tmp', '/new', '/etc/alternatives']

/** What to boot, a folder for what it boots from, what of this machine it finds there, and what it runs. */
export interface Emulated {
  readonly kernel: string
  readonly folder: string
  /** Programs, with the libraries that they load, and other files and folders. */
  readonly contents: readonly string[]
  readonly command: string
}

/** Boots a kernel on a processor that is emulated as a whole, so that the one of this machine does not matter. */
export async function bootQemu({ kernel, folder, contents, command }: Emulated): Promise<MachineRun> {
  const initrd = join(folder, 'initrd')
  {
    await using archive = await Archive.create(initrd)
    for (const path of FOLDERS) await archive.addFolder(path)
    for (const path of [...TOOLS, ...contents]) {
      await archive.addFrom(path)
      for (const library of await librariesOf(path)) await archive.addFrom(library)
    }
    // A kernel's first tree cannot be left by pivot_root; the same tree mounted once more, in its place, can.
    const move = 'mount --bind / /new && cd /new && mount --move . / && exec chroot . /second'
    const first = ['#!/bin/sh', 'export PATH=/usr/sbin:/usr/bin:/sbin:/bin', move]
    const second = ['#!/bin/sh', ...GUEST_MOUNTS, `${command} 2>&1`, 'echo o > /proc/sysrq-trigger', 'sleep 60']
    await archive.addText('/init', `${first.join('\n')}\n`)
    await archive.addText('/second', `${second.join('\n')}\n`)
  }
  const machine = ['-machine', 'pc,accel=tcg', '-cpu', 'max', '-m', String(MEMORY_MIB), '-nodefaults', '-no-reboot']
  const console = ['-display', 'none', '-serial', 'stdio']
  const start = ['-kernel', kernel, '-initrd', initrd, '-append', 'console=ttyS0 panic=-1 quiet']
  return runMachine({
    program: QEMU,
    words: [...machine, ...console, ...start],
    environment: { TMPDIR: folder },
    boundMs: BOUND_MS,
  })
}

/** What the dynamic loader would load; nothing for what is no such program. */
async function librariesOf(path: string): Promise<readonly string[]> {
  try {
    const { stdout } = await run('ldd', [path])
    return [...stdout.matchAll(/(\/\S+) \(0x/g)].flatMap(([, library]) => library ?? [])
  } catch {
    return []
  }
}
