import { type Dirent, constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { LockPath } from '@parley/mini'
import { isMissing, syncFolder } from '@parley/codex/config'
import { BackendError } from '@parley/codex/port'
import type { ConversationSummary } from '../backend.ts'
import { idOf, startOf, uuidOf } from './conversation-uuid.ts'
import { firstSaid } from './recorded.ts'

const PRIVATE_FOLDER = 0o700
const SUFFIX = '.jsonl'
/** What is read of a file to find what was said first: instructions come before it. */
const HEAD_BYTES = 2 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const PAGE_MAX = 200
/** Files that are looked into for one page; one who wants more asks with the cursor. */
const SCANNED_MAX = 2_000

/** The files in which conversations are kept, and where they go when nobody needs them any more. */
export class ConversationFiles {
  readonly folder: string
  readonly #archive: string
  readonly #lock: LockPath

  constructor(dataFolder: string, lock: LockPath) {
    this.folder = join(dataFolder, 'conversations')
    this.#archive = join(dataFolder, 'archived_conversations')
    this.#lock = lock
  }

  pathOf(uuid: string): string {
    return join(this.folder, `${idOf(uuid) ?? uuid}${SUFFIX}`)
  }

  /** The UUID of the conversation that is kept in this file. Throws `BackendError` for any other file. */
  async uuidAt(path: string): Promise<string> {
    const uuid = path.endsWith(SUFFIX) ? uuidOf(basename(path, SUFFIX)) : undefined
    if (uuid !== undefined && isAbsolute(path) && (await sameFolder(dirname(path), this.folder))) return uuid
    throw new BackendError('invalid_request', `rollout path \`${path}\` must be in sessions directory`)
  }

  async list(page: { readonly pageSize: number; readonly cursor?: string }) {
    const before = page.cursor === undefined ? undefined : uuidOfCursor(page.cursor)
    const uuids = await this.#uuids()
    const rest = before === undefined ? uuids : uuids.filter((uuid) => uuid < before)
    const size = Math.max(1, Math.min(page.pageSize, PAGE_MAX))
    const items: ConversationSummary[] = []
    let scanned = 0
    for (const uuid of rest) {
      if (items.length === size || scanned === SCANNED_MAX) break
      scanned += 1
      const path = this.pathOf(uuid)
      const preview = await previewOf(path)
      if (preview !== undefined)
        items.push({ conversationId: uuid, path, preview, timestamp: new Date(startOf(uuid)).toISOString() })
    }
    const last = rest[scanned - 1]
    return { items, nextCursor: last === undefined || scanned === rest.length ? null : cursorOf(last) }
  }

  /** Nobody may write to it meanwhile. Throws `BackendError`. */
  async archive({ id, path }: { readonly id: string; readonly path: string }): Promise<void> {
    const uuid = await this.uuidAt(path)
    if (uuid !== id.toLowerCase())
      throw new BackendError('invalid_request', `rollout path \`${path}\` does not match conversation id ${id}`)
    const from = this.pathOf(uuid)
    await mkdir(this.#archive, { recursive: true, mode: PRIVATE_FOLDER })
    const lockFile = `${from.slice(0, -SUFFIX.length)}.lock`
    const held = this.#hold(lockFile, id)
    try {
      await rename(from, join(this.#archive, basename(from)))
      await syncFolder(this.#archive)
      await syncFolder(this.folder)
      await rm(lockFile, { force: true })
    } catch (cause) {
      if (!isMissing(cause)) throw cause
      throw new BackendError('invalid_request', `conversation not found: ${id}`, { cause })
    } finally {
      held.release()
    }
  }

  #hold(lockFile: string, id: string): { release(): void } {
    try {
      return this.#lock(lockFile)
    } catch (cause) {
      throw new BackendError('failed', `conversation ${id} is open in another process: close it there first`, { cause })
    }
  }

  /** Newest first. */
  async #uuids(): Promise<string[]> {
    let entries: Dirent[]
    try {
      entries = await readdir(this.folder, { withFileTypes: true })
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
    return entries
      .flatMap((entry) => (entry.isFile() && entry.name.endsWith(SUFFIX) ? [uuidOf(basename(entry.name, SUFFIX))] : []))
      .filter((uuid) => uuid !== undefined)
      .toSorted((one, other) => (one < other ? 1 : -1))
  }
}

/** In the form of Codex's: the time for people, the id for us. */
const cursorOf = (uuid: string): string => `${new Date(startOf(uuid)).toISOString().slice(0, 19).replaceAll(':', '-')}|${uuid}`

function uuidOfCursor(cursor: string): string {
  const uuid = cursor.slice(cursor.indexOf('|') + 1).toLowerCase()
  if (idOf(uuid) !== undefined) return uuid
  throw new BackendError('invalid_request', `invalid cursor: ${cursor}`, { data: { param: 'cursor' } })
}

async function sameFolder(one: string, other: string): Promise<boolean> {
  if (one === other) return true
  try {
    return (await realpath(one)) === (await realpath(other))
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** What was said first; `undefined` where nothing was, or the file went away meanwhile. */
async function previewOf(path: string): Promise<string | undefined> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    let text = ''
    const decoder = new TextDecoder()
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let offset = 0; offset < HEAD_BYTES;) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset)
      if (bytesRead === 0) return undefined
      offset += bytesRead
      text += decoder.decode(chunk.subarray(0, bytesRead), { stream: true })
      const end = text.lastIndexOf('\n')
      const said = firstSaid(text.slice(0, end + 1).split('\n'))
      if (said !== undefined) return said
      text = text.slice(end + 1)
    }
    return undefined
  } finally {
    await file.close()
  }
}
