import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { messageOf } from '@parley/protocol'

/**
 * The real path of a folder that a mount was given, which must lie below one of the host's own roots. To be asked each time that the mount is
 * started: a link on the way may lead elsewhere by then.
 */
export async function mountFolder(folder: string, roots: readonly string[]): Promise<string> {
  if (roots.length === 0)
    throw new Error(
      `${folder} cannot be used: this host gives no folders to mounts (start it with --root: parley host --root DIR, parley up --root DIR or npm start -- --root DIR)`,
    )
  const real = await realpath(folder).catch((error: unknown) => {
    throw new Error(`${folder} cannot be used: ${messageOf(error)}`, { cause: error })
  })
  if (!(await stat(real)).isDirectory()) throw new Error(`${folder} cannot be used: it is not a folder`)
  for (const root of roots) if (isBelow(real, await realpath(root).catch(() => root))) return real
  throw new Error(`${folder} cannot be used: it is not below a --root of this host`)
}

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (!isAbsolute(way) && way.split(sep)[0] !== '..')
}
