import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigTooLarge, TomlEditError, readConfig, writeConfig } from '@parley/codex/config'
import { lockFile } from '@parley/store'
import { CommandError, type Invocation, pathWords } from '@parley/command-line'
import { instanceOf } from '../config/instance.ts'
import { dataDirAt, makeDataDir } from '../data/data-dir.ts'

/** The files that `parley mcp` works on. */
export interface ServersFile {
  readonly path: string
  readonly tokensPath: string
  readonly environmentsPath: string
  read(): Promise<string>
  /** Changes the file while nobody else does. The answer of `edit` is written unless it is what was there. */
  change(edit: (text: string) => string): Promise<void>
}

const LOCK_TRIES = 40
const LOCK_WAIT_MS = 50

export function serversFileOf(invocation: Invocation): ServersFile {
  const data = dataDirAt(invocation.io.cwd, instanceOf(invocation).dataDir)
  const path = join(data.path, 'config.toml')
  return {
    path,
    tokensPath: join(data.path, 'mcp-tokens.json'),
    environmentsPath: join(data.path, 'environments.toml'),
    read: () => named(path, () => readConfig(path)),
    change: async (edit) => {
      makeDataDir(data)
      const lock = await locked(`${path}.lock`)
      try {
        await named(path, async () => {
          const before = await readConfig(path)
          const after = edit(before)
          if (after !== before) await writeConfig(path, after)
        })
      } finally {
        lock.release()
      }
    },
  }
}

/** Says which file is at fault. */
export async function named<T>(path: string, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const isOfFile = error instanceof TomlEditError || error instanceof ConfigTooLarge || isOfSystem(error)
    if (!isOfFile) throw error
    throw new CommandError('config_unreadable', `${path}: ${pathWords(error)?.said ?? error.message}`, {
      hint: pathWords(error)?.hint ?? 'correct it by hand',
      cause: error,
    })
  }
}

/** What the system refused: no right, a folder in its place, no room. */
const isOfSystem = (error: unknown): error is Error => error instanceof Error && 'syscall' in error

/** Holds a file that many may want to change, after a short wait if need be. Throws `CommandError`. */
export async function locked(path: string): Promise<{ release(): void }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return lockFile(path)
    } catch (cause) {
      if (attempt === LOCK_TRIES)
        throw new CommandError('busy', `${path} is held by another parley`, { hint: 'try again', cause })
      await sleep(LOCK_WAIT_MS)
    }
  }
}
