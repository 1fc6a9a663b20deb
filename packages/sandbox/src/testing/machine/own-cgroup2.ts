import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where this machine's hierarchy of version 2 is, and whether memory and processes are held there; null where there is none. */
export function ownCgroup2(): { readonly at: string; readonly holds: boolean } | null {
  const mount = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')
  const at = mount?.[1]
  if (at === undefined) return null
  const found = readFileSync(join(at, 'cgroup.controllers'), 'utf8').trim().split(' ')
  return { at, holds: found.includes('memory') && found.includes('pids') }
}
