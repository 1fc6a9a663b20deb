import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { personFolders } from './person-folders.ts'

const PACKAGE = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Where an instance is when nobody says: `.parley` of the clone that the program runs from, whatever folder it is called in;
 * for an installed program the user's own data folder. Never a folder of the caller's: one that a foreign repository brought
 * along must not be taken for ours.
 */
export function defaultDataDir(env: Readonly<Record<string, string | undefined>>, from = PACKAGE): string {
  const clone = cloneFolder(from)
  return clone === undefined ? personFolders(env).data : join(clone, '.parley')
}

/** The clone that the program runs from; `undefined` for one that was installed. */
export function cloneFolder(from = PACKAGE): string | undefined {
  return from.split(sep).includes('node_modules') ? undefined : from
}
