import { accessSync, constants, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'
/** Much more than all databases of a run have together. */
const ROOM_BYTES = 2 * 1024 ** 3

/** Where databases of tests lie: in memory where there is room. They are opened a thousand times, and wait for a disk each time. */
export const QUICK_FOLDER = hasRoom(MEMORY) ? MEMORY : tmpdir()

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}
