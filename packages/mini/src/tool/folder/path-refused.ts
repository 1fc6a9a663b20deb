/**
 * Why a path was not touched.
 * - `bad_path`: it is no path at all.
 * - `outside`: it leads out of the conversation's folder, itself or by a link.
 * - `missing`: there is nothing.
 * - `is_folder`: a folder is there where a file was wanted.
 * - `wrong_kind`: something else than a file or a folder is there.
 * - `protected`: git's own files, and what is Parley's own.
 * - `unsteady`: it changed again and again while it was looked at.
 * - `too_large`: more bytes than the bound.
 * - `system`: the system said no.
 */
export type PathRefusal =
  | 'bad_path'
  | 'outside'
  | 'missing'
  | 'is_folder'
  | 'wrong_kind'
  | 'protected'
  | 'unsteady'
  | 'too_large'
  | 'system'

/** A path that must not or cannot be used; the message tells the model which and why. */
export class PathRefused extends Error {
  readonly code: PathRefusal
  constructor(code: PathRefusal, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PathRefused'
    this.code = code
  }
}

/** The system's own code of a failed call, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Names what the system refused without the paths that only exist inside this process. */
export function refusedBySystem(path: string, error: unknown): PathRefused {
  if (error instanceof PathRefused) return error
  const code = systemCode(error)
  if (code === undefined) throw error
  if (code === 'ENOENT') return new PathRefused('missing', `${path}: there is no such file or folder`, { cause: error })
  const words = SYSTEM_WORDS.get(code) ?? `the system refused it (${code})`
  return new PathRefused('system', `${path}: ${words}`, { cause: error })
}

const SYSTEM_WORDS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'not permitted'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['ENAMETOOLONG', 'the name is too long'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['ENOTEMPTY', 'the folder is not empty'],
  ['EMFILE', 'too many files are open'],
])
