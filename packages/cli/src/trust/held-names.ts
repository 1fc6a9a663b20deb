import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { HeldNames } from '@parley/workspace'
import { isWithin } from '@parley/command-line/commands'
import { FOLDER_DATA, FOLDER_SETTINGS } from './settings-in.ts'
import { readTrusted, trustFileOf } from './trust-file.ts'

/**
 * What a command in a folder must neither see nor write: the settings in it, and those of trusted folders in it. An agent that made
 * settings in a trusted folder would decide what runs next time, outside of its sandbox, so the sandbox keeps their names empty while
 * it is open, and runs no command where it cannot. It is asked for every command: a folder may be trusted meanwhile.
 */
export function heldNames(folder: string, env: Readonly<Record<string, string | undefined>>): HeldNames {
  const trusted = trustedIn(folder, env)
  const own = trusted.includes(folder) ? [] : [join(folder, FOLDER_DATA), join(folder, FOLDER_SETTINGS)]
  return {
    hidden: own.filter((path) => existsSync(path)),
    placeholders: trusted.flatMap((base) => [
      { path: join(base, FOLDER_DATA), kind: 'folder' } as const,
      { path: join(base, FOLDER_SETTINGS), kind: 'file' } as const,
    ]),
  }
}

/** Whether a folder counts at the moment does not matter: with what keeps it from counting gone, it would count with its settings. */
function trustedIn(folder: string, env: Readonly<Record<string, string | undefined>>): string[] {
  let paths: string[]
  try {
    paths = readTrusted(trustFileOf(env)).map(({ path }) => path)
  } catch {
    // A list that cannot be read trusts nothing now, and may name this folder once it is set right.
    paths = [folder]
  }
  return paths.filter((path) => isWithin(path, folder) && lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
}
