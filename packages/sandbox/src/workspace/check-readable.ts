import { SYSTEM_FOLDERS } from './settle-profile.ts'
import { SandboxUnavailable } from '../sandbox.ts'
import { isWithin, type RealPath, realPathOf } from './real-path.ts'

/** What is wrong with folders that somebody wants programs to read, in one sentence; undefined: nothing. */
export function problemOfReadable(paths: readonly string[], hidden: readonly string[]): string | undefined {
  const secrets = hidden.map((path) => realPathOf(path).path)
  for (const given of paths) {
    const { path, isThere } = realPathOf(given)
    if (!isThere) return `${given} is not there`
    if (path === '/') return `${given} is the whole machine`
    const secret = secrets.find((candidate) => isWithin(candidate, path) || isWithin(path, candidate))
    if (secret !== undefined) return `${given} holds or lies in ${secret}, which no program in the sandbox may see`
  }
  return undefined
}

/** Whether programs see a path: in a folder of the system, or in one of these. What we may not look at ourselves they do not see either. */
export function isShown(path: string, readable: readonly string[]): boolean {
  const real = lookedAt(path)
  if (real === undefined) return false
  const shown = [...SYSTEM_FOLDERS, ...readable].map((folder) => realPathOf(folder).path)
  return real.isThere && shown.some((folder) => isWithin(real.path, folder))
}

function lookedAt(path: string): RealPath | undefined {
  try {
    return realPathOf(path)
  } catch (error) {
    if (error instanceof SandboxUnavailable) return undefined
    throw error
  }
}
