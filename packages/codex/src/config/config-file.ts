import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700
const MODE_BITS = 0o777
const MAX_BYTES = 8 * 1024 * 1024

/** What stands there is no configuration file. */
export class ConfigTooLarge extends Error {
  readonly code = 'config_too_large'
  constructor(bytes: number) {
    super(`it has ${bytes} bytes: no configuration file is that large`)
    this.name = 'ConfigTooLarge'
  }
}

/** The text of a configuration file; empty where there is none. */
export async function readConfig(path: string): Promise<string> {
  return (await findConfig(path)) ?? ''
}

/** The same, where it matters whether there is one. */
export async function findConfig(path: string): Promise<string | undefined> {
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES) throw new ConfigTooLarge(size)
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** Replaces a file in one step. A link stays a link, the mode stays what it was; a new file is for its owner alone. */
export async function writeConfig(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path)
  const mode = await stat(target).then(
    (found) => found.mode & MODE_BITS,
    () => PRIVATE_FILE,
  )
  await replaceFile(target, text, mode)
}

/** The same for what nobody but its owner may read, whatever the mode of the file was. */
export async function writeSecret(path: string, text: string): Promise<void> {
  await replaceFile(await realpath(path).catch(() => path), text, PRIVATE_FILE)
}

/** Whoever reads sees all of the old or all of the new, whatever happens in between, a power cut included. */
async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER })
  const fresh = join(folder, `.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(fresh, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(fresh, path)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  await syncFolder(folder)
}

/** A file that came or went is so for good only when its folder was written too. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** There is no such file, nor anything that it could be in. */
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
