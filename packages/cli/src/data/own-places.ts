import { join, resolve } from 'node:path'
import type { Io } from '../command-line/io.ts'
import { homeOf, personFolders } from './person-folders.ts'

/** Where keys, settings and programs of ours lie: what no conversation may see, be it by a tool or by a command. */
export function ownPlaces(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  folders: { readonly data: string; readonly cache: string },
): string[] {
  const { config, data } = personFolders(env)
  // Codex's own folder holds its key and the servers that we import from it.
  const codex = resolve(cwd, env['CODEX_HOME'] || join(homeOf(env), '.codex'))
  return [...new Set([folders.data, config, data, codex, folders.cache])]
}
