import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { messageOf } from '@parley/protocol'
import { CommandError, pathWords } from '@parley/command-line'
import { makeFolder } from '@parley/command-line/commands'

/** The files of one instance. */
export interface DataDir {
  readonly path: string
  readonly database: string
  /** Says that the database of this instance is elsewhere, and where. */
  readonly databaseNote: string
  readonly lock: string
  readonly secret: string
  readonly adminSocket: string
  /** Scripts of this instance's own, beside those that come with the installation. */
  readonly scripts: string
  /** What new agents are made from, beside the built-in one. */
  readonly presets: string
}

const OTHERS = 0o077
/** The system's bound on names of socket files, the smaller of Linux (108) and macOS (104), with the closing NUL. */
const SOCKET_PATH_BYTES = 103

/** Names the files; touches nothing. */
export function dataDirAt(cwd: string, dataDir: string): DataDir {
  const path = resolve(cwd, dataDir)
  const at = (name: string): string => join(path, name)
  return {
    path,
    database: at('parley.db'),
    databaseNote: at('database'),
    lock: at('lock'),
    secret: at('secret'),
    adminSocket: at('admin.sock'),
    scripts: at('scripts'),
    presets: at('presets'),
  }
}

/** Makes the folder, for its owner alone. One that is open to others is used all the same; the answer says so. */
export function makeDataDir(data: DataDir): { readonly isOpenToOthers: boolean } {
  if (Buffer.byteLength(data.adminSocket) > SOCKET_PATH_BYTES) {
    throw new CommandError('data_dir_too_long', `${data.path} is too long a path for the socket in it`, {
      hint: `choose a shorter one with --data: at most ${SOCKET_PATH_BYTES - '/admin.sock'.length} bytes`,
    })
  }
  try {
    makeFolder(data.path)
    return { isOpenToOthers: isOpenToOthers(data.path) }
  } catch (cause) {
    throw new CommandError('data_dir_unusable', `the data folder ${data.path} cannot be made: ${wordsOf(cause)}`, {
      hint: 'choose another one with --data',
      cause,
    })
  }
}

/** Whether anybody but the owner may read, write or enter. */
export function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0
}

function wordsOf(error: unknown): string {
  return pathWords(error)?.said ?? messageOf(error)
}
