import { readFileSync } from 'node:fs'

/** A process that leads its own group. `bornAt` tells it from a later process with the same number; null where unknown. */
export interface GroupLeader {
  readonly pid: number
  readonly bornAt: string | null
}

/** When the process was born, in the kernel's own ticks; null where there is no /proc or no such process. */
export function bornAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold spaces and parentheses itself, so fields count from the last one.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

/**
 * Signals a whole group. A group number stays taken while any member lives, so a leader that is gone is no danger;
 * a leader that was born at another time is somebody else's process and is left alone.
 */
export function signalGroup(leader: GroupLeader, signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): boolean {
  const born = bornAt(leader.pid)
  if (born !== null && leader.bornAt !== null && born !== leader.bornAt) return false
  try {
    process.kill(-leader.pid, signal)
    return true
  } catch {
    return false
  }
}
