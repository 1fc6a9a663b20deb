import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import { messageOf } from '@parley/protocol'

/** A folder that a mount or an agent was given. */
export interface GivenFolder {
  readonly folder: string
  /** The granted one that allowed it, by its text. */
  readonly granted: string | null
}

/**
 * The real path of a given folder, which must lie below the granted one and below one of the host's own roots, links of all followed. To be asked
 * each time that something is started there: a link on the way may lead elsewhere by then. Whoever uses the path must refuse links in it, so that
 * one that is put there after this look leads nowhere.
 */
export async function mountFolder({ folder, granted }: GivenFolder, roots: readonly string[]): Promise<string> {
  if (roots.length === 0)
    throw new Error(
      `${folder} cannot be used: this host gives no folders to mounts (start it with --root: parley host --root DIR, parley up --root DIR or npm start -- --root DIR)`,
    )
  const real = await realpath(folder).catch((error: unknown) => {
    throw new Error(`${folder} cannot be used: ${messageOf(error)}`, { cause: error })
  })
  if (!(await stat(real)).isDirectory()) throw new Error(`${folder} cannot be used: it is not a folder`)
  if (granted === null || !isBelow(real, await placeOf(granted)))
    throw new Error(`${folder} cannot be used: a link leads out of the folder that was granted`)
  for (const root of roots) if (isBelow(real, await placeOf(root))) return real
  throw new Error(`${folder} cannot be used: it is not below a --root of this host`)
}

const placeOf = (folder: string): Promise<string> => realpath(folder).catch(() => folder)

function isBelow(path: string, root: string): boolean {
  const way = relative(root, path)
  return way === '' || (!isAbsolute(way) && way.split(sep)[0] !== '..')
}
