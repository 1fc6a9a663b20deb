import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, resolve } from 'node:path'

export type FoundCommand =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing'; readonly reason: 'ENOENT' | 'EACCES' | 'ENOTDIR'; readonly message: string }

/** What the system would search without a `PATH`. */
const DEFAULT_PATH = ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)

/**
 * Finds what to execute as execvp would, so that a failure can name what is missing; but relative places on PATH are passed
 * over: what they lead to lies in the folder that is worked in, and may be anybody's.
 */
export function findCommand(command: string, cwd: string, path = DEFAULT_PATH): FoundCommand {
  if (!isFolder(cwd))
    return { kind: 'missing', reason: 'ENOTDIR', message: `cannot run ${command}: the folder ${cwd} does not exist` }
  if (command.includes('/')) {
    const whole = isAbsolute(command) ? command : resolve(cwd, command)
    return probe(whole) === 'ok' ? { kind: 'found', path: whole } : missing(command, probe(whole), 'there is no such file')
  }
  let denied = false
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue
    const candidate = resolve(folder, command)
    const state = probe(candidate)
    if (state === 'ok') return { kind: 'found', path: candidate }
    denied ||= state === 'denied'
  }
  return missing(command, denied ? 'denied' : 'absent', 'it is not on PATH')
}

function missing(command: string, state: 'ok' | 'denied' | 'absent', absence: string): FoundCommand {
  if (state === 'denied')
    return { kind: 'missing', reason: 'EACCES', message: `cannot run ${command}: it is not executable (EACCES)` }
  return { kind: 'missing', reason: 'ENOENT', message: `cannot run ${command}: ${absence} (ENOENT)` }
}

function probe(path: string): 'ok' | 'denied' | 'absent' {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return 'absent'
    if (!stat.isFile()) return 'denied'
    accessSync(path, constants.X_OK)
    return 'ok'
  } catch {
    return 'denied'
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
