import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TryLock } from './work-folder.ts'

/** A folder for compiled programs that one judge has for itself. */
export interface ProgramFolder {
  readonly folder: string
  release(): void
}

/** The first folder for compiled programs that no other judge uses, of as many as there may be; `undefined` when all are taken. */
export function lockPrograms(cacheFolder: string, judgesMax: number, tryLock: TryLock): ProgramFolder | undefined {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 })
  for (let index = 1; index <= judgesMax; index += 1) {
    const folder = join(cacheFolder, `judge-${index}`)
    const lock = tryLock(`${folder}.lock`)
    if (lock !== undefined) return { folder, release: () => lock.release() }
  }
  return undefined
}
