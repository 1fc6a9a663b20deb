import { readFileSync } from 'node:fs'

/** Whether we are root of the machine. Who is called root in a user namespace may be anybody outside of it. */
export function isMachineRoot(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    const [inside, outside] = readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/).map(Number)
    return inside === 0 && outside === 0
  } catch {
    // Where nothing tells, the worse is true.
    return true
  }
}
