import { closeSync, existsSync, mkdirSync, openSync, rmdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../data/is-within.ts'
import { folderTrust } from './folder-trust.ts'
import { FOLDER_DATA, FOLDER_SETTINGS } from './settings-in.ts'
import { readTrusted, trustFileOf } from './trust-file.ts'

/** Places where settings of ours are, or would count if somebody put them there, while commands work in a folder. */
export interface HeldNames {
  readonly paths: readonly string[]
  /** Removes what was made for this and is still empty. */
  release(): void
}

/**
 * What a command in a folder must neither see nor write: the settings in it, and those of trusted folders in it. Where a trusted
 * folder has none, empty ones are made, because only what is there can be covered: an agent that made them would decide what
 * runs next time, outside of its sandbox.
 */
export function holdNames(folder: string, env: Readonly<Record<string, string | undefined>>): HeldNames {
  const made: string[] = []
  const trusted = trustedIn(folder, env)
  for (const base of trusted) {
    made.push(...[join(base, FOLDER_DATA)].filter((path) => succeeds(() => mkdirSync(path, { mode: 0o700 }))))
    made.push(...[join(base, FOLDER_SETTINGS)].filter((path) => succeeds(() => closeSync(openSync(path, 'wx', 0o600)))))
  }
  const paths = [folder, ...trusted].flatMap((base) => [FOLDER_DATA, FOLDER_SETTINGS].map((name) => join(base, name)))
  return {
    paths: [...new Set(paths)].filter((path) => existsSync(path)),
    release: () => {
      for (const path of made) succeeds(() => removeEmpty(path))
    },
  }
}

function trustedIn(folder: string, env: Readonly<Record<string, string | undefined>>): string[] {
  try {
    return readTrusted(trustFileOf(env))
      .map(({ path }) => path)
      .filter((path) => isWithin(path, folder) && folderTrust({ env, cwd: path }).kind === 'trusted')
  } catch {
    // A list that cannot be read trusts nothing.
    return []
  }
}

function removeEmpty(path: string): void {
  const stats = statSync(path)
  if (stats.isDirectory()) rmdirSync(path)
  else if (stats.size === 0) unlinkSync(path)
}

/** What is there already, or cannot be made or removed, stays as it is. */
function succeeds(act: () => unknown): boolean {
  try {
    act()
    return true
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return false
    throw error
  }
}
