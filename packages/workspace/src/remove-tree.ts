import { chmod, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder whose path is longer than this is moved up: what lies below it could get a path that no call takes. */
const PATH_BYTES = 2_048
const SLASH = Buffer.from('/')

/**
 * Removes a folder with all that programs of others left in it, however deeply they nested it and whatever they locked. Nobody
 * may write there any more.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && MENDED.has(error.code))) throw error
    await mend(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

const MENDED: ReadonlySet<unknown> = new Set(['ENAMETOOLONG', 'EACCES', 'EPERM'])

/** Opens every folder inside and makes its path short enough to be used. Names are bytes: not all of them are text. */
async function mend(top: string): Promise<void> {
  const folders: Buffer[] = [Buffer.from(top)]
  let moved = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await chmod(folder, 0o700)
    const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
    for (const entry of entries.filter((one) => one.isDirectory())) {
      const path = Buffer.concat([folder, SLASH, entry.name])
      if (path.length <= PATH_BYTES) {
        folders.push(path)
        continue
      }
      moved += 1
      const short = Buffer.from(join(top, `.moved-${moved}-${process.hrtime.bigint()}`))
      await rename(path, short)
      folders.push(short)
    }
  }
}
