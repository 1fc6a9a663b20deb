import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { SandboxUnavailable } from '../sandbox.ts'

/** Where a path leads once all links on its way are followed. */
export interface RealPath {
  /** Of a path that is not there: where it would be. */
  readonly path: string
  readonly isThere: boolean
  /** The links that were followed, each with where it leads. */
  readonly links: ReadonlyMap<string, string>
}

const LINKS_MAX = 40

/** Follows every link. What cannot be looked at is an error: nobody could say what it is. Throws `SandboxUnavailable`. */
export function realPathOf(given: string): RealPath {
  if (!isAbsolute(given) || given.includes('\0')) throw refusal(given, 'is not an absolute path')
  const links = new Map<string, string>()
  const rest = resolve(given).split('/').filter(Boolean)
  let path = '/'
  let isThere = true
  let followed = 0
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = join(path, part)
    const found: ReturnType<typeof look> = isThere && part !== '..' ? look(given, next) : 'missing'
    if (part === '..') path = dirname(path)
    else if (found === 'link') {
      followed += 1
      if (followed > LINKS_MAX) throw refusal(given, 'goes through too many links')
      const target = leadsTo(given, next)
      links.set(next, resolve(path, target))
      rest.unshift(...target.split('/').filter((word) => word !== '' && word !== '.'))
      if (isAbsolute(target)) path = '/'
    } else {
      isThere = found === 'there'
      path = next
    }
  }
  return { path, isThere, links }
}

/** Somebody may have put something else there since it was looked at. */
function leadsTo(given: string, link: string): string {
  try {
    return readlinkSync(link)
  } catch (cause) {
    throw refusal(given, 'changed while it was looked at', cause)
  }
}

function look(given: string, path: string): 'link' | 'there' | 'missing' {
  try {
    return lstatSync(path).isSymbolicLink() ? 'link' : 'there'
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing'
    throw refusal(given, 'cannot be looked at', cause)
  }
}

/** Whether a path is this folder, or lies in it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

export const refusal = (path: string, problem: string, cause?: unknown): SandboxUnavailable =>
  new SandboxUnavailable(`${path} ${problem}`, 'name another path', { cause })
