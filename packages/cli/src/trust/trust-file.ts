import { join } from 'node:path'
import { CommandError } from '@parley/command-line'
import { readOwned } from '@parley/command-line/commands'
import * as z from 'zod'
import { personFolders } from '../data/person-folders.ts'

/** A folder whose own settings count, and how it is known again. */
export const TrustedFolder = z.object({
  /** Without links. */
  path: z.string(),
  inode: z.string(),
  /** When it was made, in nanoseconds: a file system may give the inode of a folder that is gone to a new one. */
  born: z.string(),
  owner: z.string(),
  trusted_at: z.iso.datetime(),
})
export type TrustedFolder = z.infer<typeof TrustedFolder>

const FOLDERS_MAX = 10_000
const FILE_BYTES = 8 * 1024 * 1024
const TrustFile = z.object({ folders: z.array(TrustedFolder).max(FOLDERS_MAX) })

/** Always in the person's own data folder, whatever `--data` says: nothing that a repository contains may stand in for it. */
export function trustFileOf(env: Readonly<Record<string, string | undefined>>): string {
  return join(personFolders(env).data, 'trusted.json')
}

/** The folders that were trusted. Throws `CommandError` for a file that somebody else may have written. */
export function readTrusted(path: string): readonly TrustedFolder[] {
  const found = readOwned(path, FILE_BYTES)
  if (found.kind === 'missing') return []
  const parsed = found.kind === 'text' ? TrustFile.safeParse(jsonOf(found.text)) : undefined
  if (parsed?.success === true) return parsed.data.folders
  throw new CommandError('trust_unreadable', `${path} ${found.kind === 'refused' ? found.why : 'is damaged'}`, {
    hint: 'set that right, or remove it and trust your folders again',
  })
}

/** Replaces the list, for its owner alone. */
export async function writeTrusted(path: string, folders: readonly TrustedFolder[]): Promise<void> {
  if (folders.length > FOLDERS_MAX) throw new CommandError('too_many', `${FOLDERS_MAX} folders at most can be trusted`)
  const { writeSecret } = await import('@parley/codex/config')
  await writeSecret(path, `${JSON.stringify({ folders }, undefined, 2)}\n`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
