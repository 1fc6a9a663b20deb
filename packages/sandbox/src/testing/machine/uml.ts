import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GUEST_MOUNTS, quoted } from './guest-init.ts'
import { type MachineRun, runMachine } from './machine-run.ts'

/** A Linux kernel that is an ordinary program (Debian: user-mode-linux). */
export const UML_KERNEL = '/usr/bin/linux.uml'
/** A crowded machine takes a tenth of that for a boot. */
const BOUND_MS = 120_000
const RUNS = 'a program runs'
/** The last of what it said is where the reason stands. */
const REASON_LINES = 6

/** Whether the kernel can run programs on this processor. `reason` holds its own words. */
export type UmlProbe = { readonly kind: 'runs' } | { readonly kind: 'cannot-run'; readonly reason: string }

/** Where user-mode Linux lies, and a folder for what it writes. */
export interface Uml {
  readonly kernel: string
  readonly folder: string
}

/**
 * Boots it with nothing of ours but a line to say. It stops and sets the registers of every program by ptrace, which does not work
 * with those of some processors; whatever ends it here is therefore no fault of what is to be tested.
 */
export async function probeUml(uml: Uml): Promise<UmlProbe> {
  const { said, end } = await bootUml(uml, `${quoted(process.execPath)} -e ${quoted(`console.log(${JSON.stringify(RUNS)})`)}`)
  if (said.split('\n').includes(RUNS)) return { kind: 'runs' }
  const words = said.split('\n').filter((line) => line.trim() !== '')
  const last = words.slice(-REASON_LINES).join(' | ')
  const what = end === 'too late' ? `had run no program after ${BOUND_MS / 1_000} s` : 'ended before it had run a program'
  return { kind: 'cannot-run', reason: `${uml.kernel} ${what}: ${last === '' ? 'it said nothing' : last}` }
}

/** Boots it on this machine's files, read-only, has it run one command, and gives all that came on its console. */
export async function bootUml({ kernel, folder }: Uml, command: string): Promise<MachineRun> {
  const own = await mkdtemp(join(folder, 'uml-'))
  const init = join(own, 'init')
  const lines = ['#!/bin/sh', ...GUEST_MOUNTS, `${command} 2>&1`, 'echo o > /proc/sysrq-trigger', 'sleep 10']
  await writeFile(init, `${lines.join('\n')}\n`, { mode: 0o755 })
  const root = ['root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'ro', 'mem=1G', `init=${init}`, `uml_dir=${own}`]
  const words = [...root, 'con=null', 'con0=null,fd:1', 'ssl=null', 'quiet']
  return runMachine({ program: kernel, words, environment: { TMPDIR: own }, boundMs: BOUND_MS })
}
