import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

/** Where a Codex is looked for. */
export interface CodexPlaces {
  /** Folders in which a name is looked for, in this order. */
  readonly searchPath: readonly string[]
  /** What a relative path is meant from. */
  readonly cwd: string
  /** Our own program: under the name of codex it would be a server that waits for itself. */
  readonly own?: string
}

/** The Codex at a path, or the first of a name; `undefined`: there is none. */
export function findCodex(named: string, { searchPath, cwd, own }: CodexPlaces): string | undefined {
  const places = named.includes('/')
    ? [resolve(cwd, named)]
    : // What a relative place on PATH leads to lies in the folder that we are called in: it may be anybody's.
      searchPath.filter((folder) => isAbsolute(folder)).map((folder) => join(folder, named))
  return places.find((path) => isProgram(path) && (own === undefined || realpathSync(path) !== realpathSync(own)))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
