import { join, resolve } from 'node:path'
import type { Io } from '../command-line/io.ts'

/**
 * Where things are kept that can be made again: the sandbox helper, compiled programs. `PARLEY_CACHE`, or the user's
 * own cache folder, or a folder in the data folder for a user without a home.
 */
export function cacheDirOf({ env, cwd }: Pick<Io, 'env' | 'cwd'>, dataDir: string): string {
  // The second is the older name.
  for (const named of [env['PARLEY_CACHE'], env['PARLEY_CACHE_DIR']])
    if (named !== undefined && named !== '') return resolve(cwd, named)
  const cache = env['XDG_CACHE_HOME']
  if (cache !== undefined && cache !== '') return resolve(cache, 'parley')
  const home = env['HOME']
  return home === undefined || home === '' ? resolve(cwd, dataDir, 'cache') : join(resolve(home), '.cache', 'parley')
}
