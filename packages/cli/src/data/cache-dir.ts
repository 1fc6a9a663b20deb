import { join, resolve } from 'node:path'
import type { Io } from '@parley/command-line'
import { defaultDataDir } from './default-data-dir.ts'
import { absolute } from './person-folders.ts'

/**
 * Where things are kept that can be made again: the sandbox helper, compiled programs. `PARLEY_CACHE`, or the user's
 * own cache folder, or a folder in the data folder for a user without a home. What lies there is run, so without a name it
 * is never looked for in the folder that we are called in.
 */
export function cacheDirOf({ env, cwd }: Pick<Io, 'env' | 'cwd'>, dataDir = defaultDataDir(env)): string {
  // The second is the older name.
  for (const named of [env['PARLEY_CACHE'], env['PARLEY_CACHE_DIR']])
    if (named !== undefined && named !== '') return resolve(cwd, named)
  const cache = absolute(env['XDG_CACHE_HOME'])
  if (cache !== undefined) return join(cache, 'parley')
  const home = absolute(env['HOME'])
  return home === undefined ? resolve(cwd, dataDir, 'cache') : join(home, '.cache', 'parley')
}
