import { isAbsolute, join } from 'node:path'
import { knownHome } from '@parley/sandbox'

type Env = Readonly<Record<string, string | undefined>>

/** Folders of the person who runs us, whatever folder we are called in. */
export interface PersonFolders {
  /** Settings. */
  readonly config: string
  /** What must not be lost. */
  readonly data: string
}

/**
 * By the XDG rules. A relative path there is as good as none, as those rules say: it would lead into the folder that we are
 * called in, and what a foreign repository put there is not the person's.
 */
export function personFolders(env: Env): PersonFolders {
  const home = homeOf(env)
  return {
    config: join(absolute(env['XDG_CONFIG_HOME']) ?? join(home, '.config'), 'parley'),
    data: join(absolute(env['XDG_DATA_HOME']) ?? join(home, '.local', 'share'), 'parley'),
  }
}

/** The home folder; where the environment names none, the one that the system knows. */
export function homeOf(env: Env): string {
  return absolute(env['HOME']) ?? knownHome()
}

/** A path that means the same in every folder, or nothing. */
export function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined
}
