import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Io } from '@parley/command-line'
import { cacheDirOf } from './cache-dir.ts'

/** Folders for a sandbox of one command: the compiled helper stays, everything else goes with the command. */
export async function withScratch<Result>(
  io: Pick<Io, 'env' | 'cwd'>,
  use: (folders: { readonly cacheFolder: string; readonly runFolder: string }) => Promise<Result>,
): Promise<Result> {
  const runFolder = mkdtempSync(join(tmpdir(), 'parley-sandbox-'))
  try {
    return await use({ cacheFolder: join(cacheDirOf(io), 'sandbox'), runFolder })
  } finally {
    rmSync(runFolder, { recursive: true, force: true })
  }
}
