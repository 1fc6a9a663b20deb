import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const CLAIM = /^claim-(\d{1,6})$/

/** Makes a run ours unless somebody who lives has it. Of several who try at once one succeeds: each claim has the next number. */
export function claimRun(folder: string): boolean {
  try {
    const last = Math.max(0, ...readdirSync(folder).map((name) => Number(CLAIM.exec(name)?.[1] ?? 0)))
    if (last > 0 && isHeld(readFileSync(join(folder, `claim-${last}`), 'utf8'))) return false
    const own = join(folder, `.claim-${process.pid}-${randomBytes(4).toString('hex')}`)
    writeFileSync(own, `${process.pid} ${bornAt(process.pid)}`, { mode: 0o600, flag: 'wx' })
    try {
      linkSync(own, join(folder, `claim-${last + 1}`))
    } finally {
      rmSync(own)
    }
    return true
  } catch {
    // Somebody was faster, or has just removed it.
    return false
  }
}

function isHeld(claim: string): boolean {
  const [pid = '', born = ''] = claim.split(' ')
  if (!/^[1-9]\d{0,9}$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    // One of another user is there too.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' && bornAt(Number(pid)) === born
  }
  return bornAt(Number(pid)) === born
}

/** Tells a process from a later one with the same number, where there is a /proc; the same for all elsewhere. */
function bornAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything, so fields count from the last one.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}
