import { realpathSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'

/** Whether a path is a folder or lies in it, whatever links lead there. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(realOf(folder), realOf(path))
  return way === '' || (!isAbsolute(way) && way.split(sep)[0] !== '..')
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
