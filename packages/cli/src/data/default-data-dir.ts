import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Where an instance is when nobody says: `.parley` of the clone that the program runs from, whatever folder it is called in;
 * for an installed program the user's own data folder. Never a folder of the caller's: one that a foreign repository brought
 * along must not be taken for ours.
 */
export function defaultDataDir(env: Readonly<Record<string, string | undefined>>, from = PACKAGE): string {
  const { XDG_DATA_HOME: data, HOME: home } = env
  if (!from.split(sep).includes('node_modules')) return join(from, '.parley')
  if (data !== undefined && data !== '') return resolve(data, 'parley')
  return home === undefined || home === '' ? resolve('.parley') : join(resolve(home), '.local', 'share', 'parley')
}
