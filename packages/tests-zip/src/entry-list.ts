import { JOB_LIMITS } from '@parley/protocol'
import { type Entry, type ZipFile, fromRandomAccessReaderPromise } from 'yauzl'
import { entryName, entryPath, isJunk } from './entry-name.ts'
import { type Source, SourceReader } from './source.ts'
import { ZipRefused, asRefusal, refuseEntry, shown } from './zip-refused.ts'

/** A file of a zip that has passed every check that needs no unpacking. */
export interface FileEntry {
  readonly path: string
  readonly isDeflated: boolean
  readonly crc32: number
  /** What the zip says; unpacking holds it to that. */
  readonly size: number
  readonly compressedSize: number
  readonly dataStart: number
}
interface Listed extends Omit<FileEntry, 'dataStart'> {
  readonly entry: Entry
}

const MIB = 1024 * 1024
const { zipEntries, zipFileBytes } = JOB_LIMITS
const LOCAL_MAGIC = 'PK\u0003\u0004'
/** Where Unix keeps the kind of a file, and the two kinds that are taken. */
const UNIX_KIND = 0o170000
const REGULAR = 0o100000
const FOLDER = 0o040000
const SYMLINK = 0o120000
const DOS_REPARSE_POINT = 0x400

/** Every file of a zip, checked as far as its own list goes. Throws `ZipRefused`. */
export async function listEntries(source: Source): Promise<readonly FileEntry[]> {
  const zip = await openZip(source)
  if (zip.entryCount > zipEntries) throw new ZipRefused(`has ${zip.entryCount} entries, ${zipEntries} are the most`)
  // Where the list begins, until the first entry is read; the types take it for a flag.
  const listStart = Number(zip.readEntryCursor)
  const files = withoutFolders(await readList(zip))
  return locate(zip, files, listStart)
}

async function openZip(source: Source): Promise<ZipFile> {
  try {
    return await fromRandomAccessReaderPromise(new SourceReader(source), source.size, { autoClose: false, decodeStrings: false })
  } catch (error) {
    const head = await source.read(0, Math.min(source.size, LOCAL_MAGIC.length))
    throw asRefusal(error, (cause) =>
      head.toString('latin1') === LOCAL_MAGIC
        ? new ZipRefused('is cut short or damaged: the end of the zip is not there', undefined, { cause })
        : new ZipRefused('is not a zip', undefined, { cause }),
    )
  }
}

async function readList(zip: ZipFile): Promise<readonly (Listed & { readonly isFolder: boolean })[]> {
  const listed: (Listed & { readonly isFolder: boolean })[] = []
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entryName(entry)
      const path = entryPath(name)
      const isFolder = name.endsWith('/')
      checkEntry(entry, name, isFolder)
      const { crc32, uncompressedSize: size, compressedSize } = entry
      listed.push({ entry, path, isFolder, isDeflated: entry.compressionMethod === 8, crc32, size, compressedSize })
    }
    return listed
  } catch (error) {
    throw asRefusal(error, (cause) =>
      cause.message.includes('encryption')
        ? new ZipRefused('is encrypted', 'make the zip without a password', { cause })
        : new ZipRefused(`is damaged: entry ${listed.length + 1} cannot be read (${cause.message})`, undefined, { cause }),
    )
  }
}

function checkEntry(entry: Entry, name: string, isFolder: boolean): void {
  const kind = (entry.externalFileAttributes >>> 16) & UNIX_KIND
  if (kind === SYMLINK || (entry.externalFileAttributes & DOS_REPARSE_POINT) !== 0)
    throw refuseEntry(name, 'is a symbolic link', 'put the file itself into the zip')
  if (kind !== 0 && kind !== (isFolder ? FOLDER : REGULAR)) throw refuseEntry(name, 'is neither a file nor a folder')
  if (isFolder) return
  if (entry.isEncrypted()) throw refuseEntry(name, 'is encrypted', 'make the zip without a password')
  if (!entry.canDecodeFileData())
    throw refuseEntry(name, `is compressed by method ${entry.compressionMethod}`, 'use deflate, or no compression')
  if (entry.uncompressedSize > zipFileBytes)
    throw refuseEntry(name, `has ${entry.uncompressedSize} bytes, ${zipFileBytes / MIB} MiB are the most`)
}

/** One file per path, and no path that is both a file and a folder. */
function withoutFolders(listed: readonly (Listed & { readonly isFolder: boolean })[]): readonly Listed[] {
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const { path, isFolder } of listed) {
    if (!isFolder) {
      if (files.has(path)) throw refuseEntry(path, 'is there twice')
      files.add(path)
    }
    for (let end = isFolder ? path.length : path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
      folders.add(path.slice(0, end))
  }
  for (const path of files) if (folders.has(path)) throw refuseEntry(path, 'is both a file and a folder')
  return listed.filter(({ path, isFolder }) => !isFolder && !isJunk(path))
}

/** Finds where each file's bytes are. Two that share bytes, or bytes in the zip's own list, are how bombs are made. */
async function locate(zip: ZipFile, files: readonly Listed[], listStart: number): Promise<readonly FileEntry[]> {
  const located: FileEntry[] = []
  let last = { end: 0, path: '' }
  const inOrder = files.toSorted((a, b) => a.entry.relativeOffsetOfLocalHeader - b.entry.relativeOffsetOfLocalHeader)
  for (const { entry, ...file } of inOrder) {
    const dataStart = await startOf(zip, entry, file.path)
    if (entry.relativeOffsetOfLocalHeader < last.end) throw refuseEntry(file.path, `overlaps with ${shown(last.path)}`)
    last = { end: dataStart + file.compressedSize, path: file.path }
    if (last.end > listStart) throw refuseEntry(file.path, 'overlaps with the list of entries')
    located.push({ ...file, dataStart })
  }
  return located
}

async function startOf(zip: ZipFile, entry: Entry, path: string): Promise<number> {
  try {
    return (await zip.readLocalFileHeaderPromise(entry, { minimal: true })).fileDataStart
  } catch (error) {
    throw asRefusal(error, (cause) => refuseEntry(path, `is damaged or cut short (${cause.message})`, undefined, { cause }))
  }
}
