import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Io } from '@parley/command-line'
import type { ReadSettings } from './load.ts'
import { homeOf, personFolders } from '../data/person-folders.ts'

/** Where keys, settings and programs of ours lie: what no conversation may see, be it by a tool or by a command. */
export interface OwnPlaces {
  readonly folders: readonly string[]
  /** Wherever they are: settings that were read, and secrets that they name. */
  readonly files: readonly string[]
}

/** One list for tools and commands, reading and writing alike. */
export function ownPlaces(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  { settings, files }: ReadSettings,
  folders: { readonly data: string; readonly cache: string },
): OwnPlaces {
  const { config, data } = personFolders(env)
  // Codex's own folder holds its key and the servers that we import from it.
  const codex = resolve(cwd, env['CODEX_HOME'] || join(homeOf(env), '.codex'))
  const named = [...files, ...(settings.tlsKey === undefined ? [] : [settings.tlsKey]), ...databaseFiles(settings.databaseUrl)]
  return {
    folders: [...new Set([folders.data, config, data, codex, folders.cache])],
    files: [...new Set(named.map((path) => resolve(cwd, path)).flatMap((path) => [path, leadsTo(path)]))],
  }
}

/** Tokens, sealed keys and what people wrote are in it. */
function databaseFiles(url = ''): string[] {
  const file = url.includes('://') ? '' : url.replace(/^sqlite:/, '')
  return file === '' ? [] : ['', '-wal', '-shm'].map((end) => file + end)
}

/** Both the link and what it leads to are named: whoever replaces the one or reads the other has the file. */
function leadsTo(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
