import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, opendir, rmdir, unlink } from 'node:fs/promises'
import type { JsonObject, JsonValue } from '@parley/protocol'
import { refusal } from '../../api/error-code.ts'
import { pathOf, uriOf } from '../../api/file-uri.ts'
import { CreateDirectoryParams, paramsOf, PathParams, RemoveParams, WriteFileParams } from '../../api/params.ts'
import type { ServerLimits } from '../server-limits.ts'
import { HeldFolder, removeTree, systemCode, systemFailure } from './held-folder.ts'
import { Roots } from './held-path.ts'

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants
const NEW_FILE_MODE = 0o666

export type FileMethod = (params: JsonObject) => Promise<JsonValue>
export type FileMethods = ReadonlyMap<string, FileMethod>

/** `fs/*` below these roots, which are real paths. Links are resolved before anything is checked, and never after. */
export function fileMethods(roots: readonly string[], limits: Pick<ServerLimits, 'fileBytes' | 'folderEntries'>): FileMethods {
  const below = new Roots(roots)
  const methods: [string, FileMethod][] = [
    ['fs/getMetadata', (params) => getMetadata(below, params)],
    ['fs/canonicalize', (params) => canonicalize(below, params)],
    ['fs/readFile', (params) => readFile(below, params, limits.fileBytes)],
    ['fs/readDirectory', (params) => readDirectory(below, params, limits.folderEntries)],
    ['fs/writeFile', (params) => writeFile(below, params, limits.fileBytes)],
    ['fs/createDirectory', (params) => createDirectory(below, params)],
    ['fs/remove', (params) => remove(below, params)],
  ]
  return new Map(methods.map(([name, method]) => [name, async (params) => method(params).catch(refuse)]))
}

async function getMetadata(below: Roots, params: JsonObject): Promise<JsonValue> {
  using found = await below.existing(pathOf(paramsOf(PathParams, params).path, 'path'))
  const stats = await lstat(found.at)
  // It was none when links were resolved: somebody has put it there since.
  if (stats.isSymbolicLink()) throw systemFailure('ELOOP')
  return {
    isDirectory: stats.isDirectory(),
    isFile: stats.isFile(),
    // What it leads to may be looked at, so whether it is a link may be known too.
    isSymlink: found.isLink,
    size: stats.size,
    createdAtMs: Math.trunc(stats.birthtimeMs),
    modifiedAtMs: Math.trunc(stats.mtimeMs),
  }
}

async function canonicalize(below: Roots, params: JsonObject): Promise<JsonValue> {
  using found = await below.existing(pathOf(paramsOf(PathParams, params).path, 'path'))
  return { path: uriOf(found.real) }
}

async function readFile(below: Roots, params: JsonObject, maxBytes: number): Promise<JsonValue> {
  using found = await below.existing(pathOf(paramsOf(PathParams, params).path, 'path'))
  // Without waiting: opening a pipe would wait for whoever writes to it.
  await using file = await open(found.at, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const stats = await file.stat()
  if (!stats.isFile()) throw refusal('invalidRequest', 'path: it is not a file')
  if (stats.size > maxBytes) throw refusal('invalidRequest', `path: it has ${stats.size} bytes, ${maxBytes} at most are read`)
  const bytes = Buffer.alloc(maxBytes < stats.size ? maxBytes : stats.size)
  let read = 0
  while (read < bytes.length) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, read)
    if (bytesRead === 0) break
    read += bytesRead
  }
  return { dataBase64: bytes.subarray(0, read).toString('base64') }
}

async function readDirectory(below: Roots, params: JsonObject, maxEntries: number): Promise<JsonValue> {
  using found = await below.existing(pathOf(paramsOf(PathParams, params).path, 'path'))
  // By a descriptor: listing it by its path would follow a link that somebody has put there since.
  using folder = await HeldFolder.open(found.at)
  const entries: JsonObject[] = []
  for await (const entry of await opendir(folder.at('.'))) {
    if (entries.length === maxEntries) throw refusal('invalidRequest', `path: it has more than ${maxEntries} entries`)
    const kind = entry.isSymbolicLink() ? await kindBehind(below, `${found.real}/${entry.name}`) : entry
    entries.push({ fileName: entry.name, isDirectory: kind?.isDirectory() ?? false, isFile: kind?.isFile() ?? false })
  }
  return { entries }
}

/** What a link leads to; nothing where that is not ours to look at. */
async function kindBehind(below: Roots, path: string): Promise<Stats | undefined> {
  try {
    using target = await below.existing(path)
    return await lstat(target.at)
  } catch {
    return undefined
  }
}

async function writeFile(below: Roots, params: JsonObject, maxBytes: number): Promise<JsonValue> {
  const { path, dataBase64 } = paramsOf(WriteFileParams, params)
  const bytes = Buffer.from(dataBase64, 'base64')
  if (bytes.length > maxBytes) throw refusal('invalidRequest', `dataBase64: ${maxBytes} bytes at most are written`)
  using target = await below.target(pathOf(path, 'path'))
  await using file = await open(target.at, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, NEW_FILE_MODE)
  if (!(await file.stat()).isFile()) throw refusal('invalidRequest', 'path: it is not a file')
  await file.writeFile(bytes)
  return {}
}

async function createDirectory(below: Roots, params: JsonObject): Promise<JsonValue> {
  const { path, recursive } = paramsOf(CreateDirectoryParams, params)
  await makeFolder(below, pathOf(path, 'path'), recursive !== false)
  return {}
}

/** One name at a time, each in a folder that is held: a link that somebody puts on the way is not followed out of the roots. */
async function makeFolder(below: Roots, path: string, isDeep: boolean): Promise<void> {
  try {
    using name = await below.named(path)
    await mkdir(name.at)
  } catch (error) {
    const code = systemCode(error)
    if (isDeep && code === 'EEXIST') return isFolder(below, path)
    if (!isDeep || code !== 'ENOENT') throw error
    await makeFolder(below, path.slice(0, Math.max(path.lastIndexOf('/'), 1)), true)
    await makeFolder(below, path, true)
  }
}

async function isFolder(below: Roots, path: string): Promise<void> {
  using found = await below.existing(path)
  if (!(await lstat(found.at)).isDirectory()) throw refusal('invalidRequest', 'path: something else is there')
}

async function remove(below: Roots, params: JsonObject): Promise<JsonValue> {
  const { path, recursive, force } = paramsOf(RemoveParams, params)
  using name = await below.named(pathOf(path, 'path'))
  const found = await lstat(name.at).catch((error: unknown) => {
    if (force !== false && systemCode(error) === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return {}
  if (!found.isDirectory()) await unlink(name.at)
  else if (recursive !== false) await removeTree(name.at)
  else await rmdir(name.at)
  return {}
}

/** As the real one says them. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'Permission denied (os error 13)'],
  ['ELOOP', 'Too many levels of symbolic links (os error 40)'],
  ['EEXIST', 'File exists (os error 17)'],
  ['ENOTDIR', 'Not a directory (os error 20)'],
  ['ENOTEMPTY', 'Directory not empty (os error 39)'],
])

/** The system's failures in the codes of the API. Paths of descriptors are nobody's business. */
function refuse(error: unknown): never {
  const code = systemCode(error)
  if (code === undefined) throw error
  if (code === 'ENOENT') throw refusal('notFound', 'path: No such file or directory (os error 2)')
  throw refusal('internal', `path: ${WORDS.get(code) ?? code}`)
}
