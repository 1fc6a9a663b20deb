import { readFileSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'

/** How long one task was on a processor, and how long it waited for one, as the kernel counts it. */
export interface TaskAccount {
  readonly ranMs: number
  readonly waitedMs: number
  /** How often it was given a processor. */
  readonly times: number
  /** It runs, or could run. */
  readonly isReady: boolean
}

/** Whether the kernel of this machine counts how long tasks wait for a processor. */
export function countsWaiting(): boolean {
  return (accountOf('/proc/self')?.times ?? 0) > 0
}

/** What a report says about the clock. */
export function clockWords(): { readonly wall: string; readonly missing: readonly string[] } {
  if (countsWaiting()) return { wall: 'clock; a program that waits for a processor is not taken for idle', missing: [] }
  const missing = 'a program that waits for a processor is taken for idle: needs a kernel that counts it (CONFIG_SCHED_INFO)'
  return { wall: 'clock', missing: [missing] }
}

/** What a program has used and how long the clock has run. */
export interface UsedTime {
  readonly cpuMs: number
  readonly elapsedMs: number
}

/** The accounts of tasks by their number: of all threads of these processes that are still there. */
export function taskAccounts(pids: readonly number[]): ReadonlyMap<number, TaskAccount> {
  const found = new Map<number, TaskAccount>()
  for (const pid of pids) {
    try {
      for (const task of readdirSync(`/proc/${pid}/task`)) {
        const account = accountOf(`/proc/${pid}/task/${task}`)
        if (account !== null) found.set(Number(task), account)
      }
    } catch {
      // It ended while we looked.
    }
  }
  return found
}

/** How long a program was starved, as far as it is known. */
export interface Starved {
  readonly ms: number
  /** It could run, and may have been kept from it, for nobody knows how long: its clock is not over before it was given a processor. */
  readonly waitsStill: boolean
}

/**
 * How long a program was starved: its tasks waited while others had the processors. What a task waited while another one of the same
 * program ran is not counted, or threads that get in each other's way would buy time; between two looks it is never more than the
 * others used. The kernel counts a wait when that ends: whoever could run at two looks and was given no processor between them waits still.
 */
export class Starving {
  #seen: ReadonlyMap<number, TaskAccount> = new Map()
  #cpuMs = 0
  #totalMs = 0

  /** How long in all, after another look. */
  add(tasks: ReadonlyMap<number, TaskAccount>, { cpuMs, elapsedMs }: UsedTime): Starved {
    const usedMs = cpuMs - this.#cpuMs
    let isNew = false
    let isKept = false
    for (const [task, now] of tasks) {
      const known = this.#seen.get(task)
      const before = beforeOf(now, known)
      isNew ||= now.isReady && before !== known
      isKept ||= now.isReady && before.isReady && before.times === now.times && before.ranMs === now.ranMs
      const byOthersMs = Math.max(0, usedMs - (now.ranMs - before.ranMs))
      this.#totalMs += Math.max(0, now.waitedMs - before.waitedMs - byOthersMs)
    }
    this.#seen = tasks
    this.#cpuMs = cpuMs
    // Several that wait at once are no longer starved than the clock has run, and while one of them ran they were not.
    const mostMs = Math.max(0, elapsedMs - cpuMs / availableParallelism())
    return { ms: isKept ? mostMs : Math.min(this.#totalMs, mostMs), waitsStill: isNew || isKept }
  }
}

/** A number may be another task's by now, which has an account of its own. */
function beforeOf(now: TaskAccount, before: TaskAccount | undefined): TaskAccount {
  const isSame = before !== undefined && before.ranMs <= now.ranMs && before.waitedMs <= now.waitedMs
  return isSame ? before : { ranMs: 0, waitedMs: 0, times: 0, isReady: false }
}

/**
 * Three figures: nanoseconds on a processor, of waiting for one, and how often it was given one. Where nobody counts all are 0. The state
 * stands behind the name, which may hold anything but ends with the last parenthesis.
 */
function accountOf(task: string): TaskAccount | null {
  try {
    const [ran = 0, waited = 0, times = 0] = readFileSync(`${task}/schedstat`, 'latin1').trim().split(' ').map(Number)
    const line = readFileSync(`${task}/stat`, 'latin1')
    return { ranMs: ran / 1e6, waitedMs: waited / 1e6, times, isReady: line.startsWith(') R', line.lastIndexOf(')')) }
  } catch {
    return null
  }
}
