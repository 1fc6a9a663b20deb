import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { type GivenFile, readGivenLine } from './given-file.ts'
import type { Io } from './io.ts'
import { atPath } from './path-failure.ts'

const OWNER_ONLY = 0o600
const OTHERS = 0o077

/**
 * A new file that only its owner can read, filled with what `make` answers. It is opened first, so that nothing is made that
 * then has no place; a file that is there is not overwritten, and nothing is left of one that could not be filled.
 */
export async function makePrivateFile<T extends { readonly text: string }>(given: GivenFile, make: () => Promise<T>): Promise<T> {
  const path = resolve(given.cwd, given.file)
  const file = atPath(`${given.what} ${given.file}`, () => openSync(path, 'wx', OWNER_ONLY))
  let isFilled = false
  try {
    const made = await make()
    writeSync(file, made.text)
    isFilled = true
    return made
  } finally {
    closeSync(file)
    if (!isFilled) rmSync(path, { force: true })
  }
}

/** The first line of a file, which is a secret; says so where it is none to others on this machine. */
export function readSecretLine(given: GivenFile, io: Pick<Io, 'err'>, secret: Secret = 'token'): string {
  const line = readGivenLine(given)
  warnIfOpen(given, io, secret)
  return line
}

type Secret = 'token' | 'key' | 'password' | 'secret'

/** One line about a file with a secret that others on this machine can read too. Pipes and descriptors belong to who made them. */
export function warnIfOpen({ what, file, cwd }: GivenFile, { err }: Pick<Io, 'err'>, secret: Secret): void {
  if (file === '-' || process.platform === 'win32') return
  const found = statSync(resolve(cwd, file), { throwIfNoEntry: false })
  if (found?.isFile() === true && (found.mode & OTHERS) !== 0)
    err(`warning: ${what} ${file}: others on this machine can read this ${secret}; chmod 600 ${file}\n`)
}
