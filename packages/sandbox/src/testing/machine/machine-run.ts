import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { expect } from 'vitest'

const CONSOLE_BYTES = 1 << 20

/** A program that is a machine: what to start, and for how long at most it may run. */
export interface MachineStart {
  readonly program: string
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly boundMs: number
}

/** All that came on its console, and whether it ended by itself. */
export interface MachineRun {
  readonly said: string
  readonly end: 'by itself' | 'too late'
}

/** Runs a machine to its end and makes sure that nothing of it is left. */
export async function runMachine({ program, words, environment, boundMs }: MachineStart): Promise<MachineRun> {
  // Its processes are in a group of their own, so that all of them can be ended.
  const machine = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env: environment, detached: true })
  let said = ''
  let isLate = false
  for (const stream of [machine.stdout, machine.stderr])
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString().replaceAll('\r', '')).slice(-CONSOLE_BYTES)
    })
  const timer = setTimeout(() => {
    isLate = true
    endGroup(machine.pid)
  }, boundMs)
  // What it left behind may hold the streams open: its own end counts, and then that of all the others.
  const closed = once(machine, 'close')
  await once(machine, 'exit')
  clearTimeout(timer)
  endGroup(machine.pid)
  await closed
  await expect.poll(() => aliveIn(machine.pid)).toEqual([])
  return { said, end: isLate ? 'too late' : 'by itself' }
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
