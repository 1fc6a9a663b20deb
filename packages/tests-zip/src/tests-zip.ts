import { createHash } from 'node:crypto'
import { JOB_LIMITS, compareNaturally } from '@parley/protocol'
import type { Blobs, InputFile } from '@parley/store'
import { entryBytes } from './entry-bytes.ts'
import { type FileEntry, listEntries } from './entry-list.ts'
import type { Source } from './source.ts'
import { ZipRefused, refuseEntry } from './zip-refused.ts'

const MIB = 1024 * 1024
const { zipTotalBytes } = JOB_LIMITS
/** A zip may unpack to this much whatever its own size is; beyond it, to so many times its size. */
const RATIO_FREE_BYTES = 64 * MIB
const RATIO_MAX = 200
const ROOT = 'tests/'

/** The tests of a zip: looked at, and nothing of it unpacked yet. */
export interface TestsZip {
  /** In natural order, each starting with `tests/`. */
  readonly paths: readonly string[]
  readonly totalBytes: number
  /** A small file as text; refuses one that is larger, or no UTF-8. */
  text(path: string, maxBytes: number): Promise<string>
  /** Every file, one after the other, in the order of `paths`. */
  files(): AsyncGenerator<{ readonly path: string; readonly pieces: AsyncIterable<Buffer> }>
}

/** Opens a zip that nobody vouches for. Throws `ZipRefused`. */
export async function openTestsZip(source: Source): Promise<TestsZip> {
  const files = testsOf(await listEntries(source))
  const totalBytes = files.reduce((sum, file) => sum + file.size, 0)
  if (files.length === 0) throw new ZipRefused('has no file in it')
  if (totalBytes > zipTotalBytes) throw new ZipRefused(`unpacks to ${totalBytes} bytes, ${zipTotalBytes / MIB} MiB are the most`)
  if (totalBytes > RATIO_FREE_BYTES && totalBytes > source.size * RATIO_MAX)
    throw new ZipRefused(
      `unpacks to ${totalBytes} bytes, more than ${RATIO_MAX} times its size`,
      'store large files uncompressed',
    )
  const byPath = new Map(files.map((file) => [file.path, file]))
  return {
    paths: files.map(({ path }) => path),
    totalBytes,
    async text(path, maxBytes) {
      const file = byPath.get(path)
      if (file === undefined) throw refuseEntry(path, 'is not there')
      if (file.size > maxBytes) throw refuseEntry(path, `has ${file.size} bytes, ${maxBytes} are the most for it`)
      const pieces: Buffer[] = []
      for await (const piece of entryBytes(source, file)) pieces.push(piece)
      return utf8(path, Buffer.concat(pieces))
    },
    async *files() {
      for (const file of files) yield { path: file.path, pieces: entryBytes(source, file) }
    },
  }
}

/** With a folder `tests` at the top only what is in it counts; otherwise everything does. */
function testsOf(files: readonly FileEntry[]): readonly FileEntry[] {
  const inFolder = files.filter(({ path }) => path.startsWith(ROOT))
  const chosen = inFolder.length > 0 ? inFolder : files.map((file) => ({ ...file, path: `${ROOT}${file.path}` }))
  return chosen.toSorted((a, b) => compareNaturally(a.path, b.path))
}

function utf8(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw refuseEntry(path, 'is not UTF-8', undefined, { cause })
  }
}

/** Unpacks everything into one blob. Refused or failed: the upload is thrown away. */
export async function storeTests(
  zip: TestsZip,
  blobs: Pick<Blobs, 'abort' | 'begin' | 'commit' | 'write'>,
  { owner, holder, goOn }: { readonly owner: string; readonly holder: string; readonly goOn: () => void },
): Promise<{ readonly blob: string; readonly files: readonly InputFile[] }> {
  const upload = await blobs.begin(owner)
  const chunk = Buffer.allocUnsafe(JOB_LIMITS.chunkBytes)
  let filled = 0
  let written = 0
  const flush = async (): Promise<void> => {
    goOn()
    written = (await blobs.write(upload, owner, written, chunk.subarray(0, filled))).offset
    filled = 0
    await breathe()
  }
  try {
    const files: InputFile[] = []
    for await (const { path, pieces } of zip.files()) {
      const offset = written + filled
      const hash = createHash('sha256')
      for await (const piece of pieces) {
        hash.update(piece)
        for (let at = 0; at < piece.length;) {
          const taken = piece.copy(chunk, filled, at)
          filled += taken
          at += taken
          if (filled === chunk.length) await flush()
        }
      }
      files.push({ path, offset, size: written + filled - offset, sha256: hash.digest('hex') })
    }
    if (filled > 0) await flush()
    return { blob: (await blobs.commit(upload, owner, { holder })).sha256, files }
  } catch (error) {
    // What cannot be thrown away now is collected after an hour.
    await blobs.abort(upload, owner).catch(() => undefined)
    throw error
  }
}

/** A store on this machine answers without ever leaving the turn: others must be served in between. */
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
