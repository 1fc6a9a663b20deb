import { lstatSync, readdirSync } from 'node:fs'

/** The same list as in `cage/proc.c`: what tools count processors and memory by, and what belongs to the box's own namespaces. */
const TOLD = [
  ...['cgroups', 'cpuinfo', 'filesystems', 'loadavg', 'meminfo', 'mounts', 'net', 'self', 'stat', 'sys', 'sysvipc'],
  ...['thread-self', 'uptime', 'version', 'vmstat'],
]

/** Words that cover what else `/proc` tells of the machine. Bubblewrap shows no devices, so what is covered by one cannot be opened. */
export function coveredProc(): readonly string[] {
  const rest = readdirSync('/proc').filter((name) => !/^\d+$/.test(name) && !TOLD.includes(name))
  return rest.flatMap((name) => {
    const path = `/proc/${name}`
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined || found.isSymbolicLink()) return []
    return found.isDirectory() ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]
  })
}
