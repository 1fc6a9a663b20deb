import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandError } from '@parley/command-line'
import { isOpenToOthers } from './data-dir.ts'

const SECRET_BYTES = 32

/** The text in the file is the secret: what stands there can be given to another gateway as `PARLEY_SECRET`. */
export function readSecret(path: string): Uint8Array | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new CommandError('secret_unreadable', `${path} cannot be read`, { cause: error })
  }
  if (isOpenToOthers(path))
    throw new CommandError('secret_exposed', `${path} can be read by others`, { hint: `chmod 600 ${path}` })
  if (Buffer.byteLength(text) < SECRET_BYTES) {
    throw new CommandError('secret_damaged', `${path} holds less than ${SECRET_BYTES} bytes`, {
      hint: 'put the right one back, or set PARLEY_SECRET',
    })
  }
  return Buffer.from(text)
}

/** Reads the secret, or makes one. Safe against a second starter and against a crash between any two lines. */
export function ensureSecret(path: string, random: (size: number) => Uint8Array): Uint8Array {
  const known = readSecret(path)
  if (known !== undefined) return known
  const draft = `${path}.${Buffer.from(random(8)).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${Buffer.from(random(SECRET_BYTES)).toString('base64url')}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  try {
    // A link fails when the name is taken, where a rename would replace what another starter already uses.
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(draft, { force: true })
  }
  const made = readSecret(path)
  if (made === undefined) throw new CommandError('secret_unreadable', `${path} disappeared`)
  return made
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
