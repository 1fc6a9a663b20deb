import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Io } from '@parley/command-line'
import { readOwned, whyForeign } from '@parley/command-line/commands'
import { type FolderTrust, folderTrust } from './folder-trust.ts'
import { FOLDER_DATA, FOLDER_SETTINGS } from './settings-in.ts'

const ENGINE_SETTINGS = 'config.toml'
const FILE_BYTES = 16 * 1024 * 1024

export interface FolderFile {
  readonly path: string
  readonly text: string
}

/** A file of a trusted folder that the person alone can have written, or why it does not count. */
export type FolderSettings = { readonly file: FolderFile | undefined; readonly refused?: string }

/** `parley.toml` of a folder that is trusted. */
export function folderSettings(trust: FolderTrust): FolderSettings {
  return trust.kind === 'trusted' ? ownFile(join(trust.path, FOLDER_SETTINGS)) : { file: undefined }
}

/** `.parley/config.toml` of the folder that we are called in, if it is trusted: what our own engine reads there. */
export function engineSettings(io: Pick<Io, 'env' | 'cwd'>): FolderSettings {
  const trust = folderTrust(io)
  if (trust.kind !== 'trusted') return { file: undefined }
  const folder = join(trust.path, FOLDER_DATA)
  const stats = lstatSync(folder, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return { file: undefined }
  const foreign = stats.isDirectory() ? whyForeign(stats) : 'is no folder'
  return foreign === undefined ? ownFile(join(folder, ENGINE_SETTINGS)) : { file: undefined, refused: `${folder} ${foreign}` }
}

function ownFile(path: string): FolderSettings {
  const found = readOwned(path, FILE_BYTES)
  if (found.kind === 'text') return { file: { path, text: found.text } }
  return found.kind === 'missing' ? { file: undefined } : { file: undefined, refused: `${path} ${found.why}` }
}
