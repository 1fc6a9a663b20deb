import { usageError } from './command-error.ts'

/** What the system's codes about a path mean, in words, and what can be done. */
const WORDS: Readonly<Record<string, readonly [said: string, hint: string]>> = {
  ENOENT: ['there is no such file or folder', 'check the path'],
  ENOTDIR: ['something on the way there is a file and no folder', 'check the path'],
  EISDIR: ['is a folder, and a file is needed', 'name a file in it'],
  EACCES: ['you have no right to it', 'ls -l shows who has'],
  EPERM: ['the system does not allow it', 'ls -l and lsattr show why'],
  ELOOP: ['is a link that leads to itself', 'name the file itself'],
  ENAMETOOLONG: ['is longer than a name may be', 'check the path'],
  ENXIO: ['is a socket, and a file is needed', 'name a file'],
  EEXIST: ['there is a file of that name already', 'choose another name'],
  EROFS: ['is on a disk that can only be read', 'choose another place'],
  ENOSPC: ['there is no room left on the disk', 'make room or choose another place'],
  EDQUOT: ['there is no room left for you on the disk', 'make room or choose another place'],
  EMFILE: ['too many files are open', 'ulimit -n shows how many may be'],
  EIO: ['the disk does not answer', 'see what the system log says'],
}

/** What the system said about a path, as a person would: `undefined` when it said nothing of the kind. */
export function pathWords(error: unknown): { readonly said: string; readonly hint: string } | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const known = Object.hasOwn(WORDS, error.code) ? WORDS[error.code] : undefined
  return known === undefined ? undefined : { said: known[0], hint: known[1] }
}

/** What is thrown about a path that the command line names; `label` is the option with what was given to it. */
export function pathFailure(label: string, error: unknown): unknown {
  const words = pathWords(error)
  if (words !== undefined) return usageError(`${label}: ${words.said}`, `${words.hint}${placeOf(label, error)}`)
  const isOfSystem = error instanceof Error && 'syscall' in error
  return isOfSystem ? usageError(`${label}: ${error.message}`) : error
}

/** Where a path that does not begin at the root was looked for. */
function placeOf(label: string, error: unknown): string {
  const path = error instanceof Error && 'path' in error ? error.path : undefined
  return typeof path === 'string' && !label.includes(path) ? `: ${path}` : ''
}

/** Does something with a path that the command line names; what the system refuses is told in words. */
export function atPath<T>(label: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw pathFailure(label, error)
  }
}
