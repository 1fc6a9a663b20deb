import { lstatSync } from 'node:fs'
import { join } from 'node:path'

/** What a folder may have of ours, by name: settings, and what belongs to an instance. */
export const FOLDER_SETTINGS = 'parley.toml'
export const FOLDER_DATA = '.parley'

/** What lies in a folder and looks like ours. Whether it counts is another question. */
export function settingsIn(folder: string) {
  return ([FOLDER_DATA, FOLDER_SETTINGS] as const)
    .map((name) => ({ name, path: join(folder, name) }))
    .filter(({ path }) => isThere(path))
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Whoever may not look into the folder is not told what is in it.
    return false
  }
}
