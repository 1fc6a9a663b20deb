import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** What lets somebody else change a file or a folder. */
const WRITABLE_BY_OTHERS = 0o022n
const MODE_BITS = 0o777n
/** Opening waits for nobody and follows no link. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Why somebody else could have put there what stands there; `undefined`: nobody but the person could. */
export function whyForeign({ uid, mode }: Pick<BigIntStats, 'uid' | 'mode'>): string | undefined {
  const me = process.getuid?.()
  // Windows has neither owners nor modes of this kind.
  if (me === undefined) return undefined
  if (uid !== BigInt(me)) return `belongs to somebody else (uid ${uid})`
  if ((mode & WRITABLE_BY_OTHERS) === 0n) return undefined
  return `can be written by others (mode ${(mode & MODE_BITS).toString(8)}): chmod go-w`
}

export type OwnedText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string }

/** A text of the person's own: a regular file, no link, that nobody else may change. */
export function readOwned(path: string, limitBytes: number): OwnedText {
  let fd: number
  try {
    fd = openSync(path, AT_ONCE)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    return { kind: 'refused', why: code === 'ELOOP' ? 'is a link' : `cannot be read (${String(code)})` }
  }
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (!stats.isFile()) return { kind: 'refused', why: 'is no file' }
    const foreign = whyForeign(stats)
    if (foreign !== undefined) return { kind: 'refused', why: foreign }
    if (stats.size > limitBytes) return { kind: 'refused', why: `has more than ${limitBytes} bytes` }
    const bytes = Buffer.alloc(Number(stats.size))
    let size = 0
    for (let more = -1; more !== 0 && size < bytes.length; size += more)
      more = readSync(fd, bytes, size, bytes.length - size, size)
    return { kind: 'text', text: bytes.toString('utf8', 0, size) }
  } finally {
    closeSync(fd)
  }
}
