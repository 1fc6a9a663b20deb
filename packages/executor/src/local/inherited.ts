import { closeSync, readFileSync, readdirSync } from 'node:fs'

const CLOSE_ON_EXEC = 0o2000000

/**
 * Closes descriptors that whoever started us left open for everybody: children would inherit them, and a child that holds
 * the end of somebody's pipe makes that somebody wait for it. What Node opens itself is marked and stays. Linux alone
 * can tell the two apart.
 */
export function closeInherited(): void {
  for (const name of listed()) {
    const fd = Number(name)
    if (fd > 2 && isLeftOpen(name)) closeSync(fd)
  }
}

function listed(): readonly string[] {
  try {
    return readdirSync('/proc/self/fdinfo')
  } catch {
    return []
  }
}

function isLeftOpen(name: string): boolean {
  try {
    const flags = /flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${name}`, 'latin1'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    // The descriptor that listed the folder is gone by now.
    return false
  }
}
