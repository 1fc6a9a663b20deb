import { existsSync, readFileSync } from 'node:fs'

/** Whether this machine itself has cgroup 2 with memory and processes, and we may write to it. */
export function hasOwnCgroup2(): boolean {
  const controllers = '/sys/fs/cgroup/cgroup.controllers'
  if (process.getuid?.() !== 0 || !existsSync(controllers)) return false
  const found = readFileSync(controllers, 'utf8').trim().split(' ')
  return found.includes('memory') && found.includes('pids')
}
