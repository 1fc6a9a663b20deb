import { constants, write } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ConversationId } from '@parley/protocol'
import type { Transcript, TranscriptEntry, Transcripts } from '@parley/agent'
import { ConversationLocked, TranscriptDamaged } from './errors.ts'
import { readLines } from './read-lines.ts'

/** Takes the one ownership of a path that is nothing but a lock, or throws at once. It must end with its process. */
export type LockPath = (path: string) => { release(): void }

/** What one conversation may come to; a longer one cannot be read back. */
const TRANSCRIPT_BYTES = 400 * 1024 * 1024
const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700
/** A write that has ended is on the disk: one trip to the system instead of two. Not every system has it. */
const ON_DISK: number | undefined = constants.O_DSYNC
const APPEND = constants.O_RDWR | constants.O_APPEND | (ON_DISK ?? 0)
const CREATE = APPEND | constants.O_CREAT | constants.O_EXCL

/** One append-only file a conversation, below `folder`, with one writer at a time. What is appended is on the disk. */
export function openFileTranscripts(folder: string, { lock }: { readonly lock: LockPath }): Transcripts {
  const pathOf = (id: string): string => join(folder, `${id}.jsonl`)
  const hold = (id: string): { release(): void } => {
    try {
      return lock(join(folder, `${id}.lock`))
    } catch (cause) {
      throw new ConversationLocked(id, { cause })
    }
  }
  return {
    create: async (id) => {
      ConversationId.parse(id)
      await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER })
      const held = hold(id)
      try {
        const file = await open(pathOf(id), CREATE, PRIVATE_FILE)
        await syncFolder(folder)
        return new FileTranscript(id, file, held)
      } catch (error) {
        held.release()
        throw error
      }
    },
    open: async (id) => {
      if (!ConversationId.safeParse(id).success || !(await exists(pathOf(id)))) return undefined
      const held = hold(id)
      try {
        return new FileTranscript(id, await open(pathOf(id), APPEND), held)
      } catch (error) {
        held.release()
        throw error
      }
    },
  }
}

class FileTranscript implements Transcript {
  readonly #id: string
  readonly #file: FileHandle
  readonly #held: { release(): void }
  #closed = false
  /** The file must not be closed under it: its number may be another file's by then. */
  #writing: Promise<void> = Promise.resolve()

  constructor(id: string, file: FileHandle, held: { release(): void }) {
    this.#id = id
    this.#file = file
    this.#held = held
  }

  async read(): Promise<readonly TranscriptEntry[]> {
    const { size } = await this.#file.stat()
    if (size > TRANSCRIPT_BYTES) throw new TranscriptDamaged(this.#id, `${size} bytes are more than ${TRANSCRIPT_BYTES}`)
    const bytes = await readFrom(this.#file, size)
    const found = readLines(bytes)
    if (found.kind === 'damaged') throw new TranscriptDamaged(this.#id, `line ${found.line} is not an entry`)
    // The next line must not be glued to the rest of a cut one.
    if (found.wholeBytes < bytes.length) {
      await this.#file.truncate(found.wholeBytes)
      await this.#file.datasync()
    }
    return found.entries
  }

  async append(entries: readonly TranscriptEntry[]): Promise<void> {
    let text = ''
    for (const entry of entries) text += `${JSON.stringify(entry)}\n`
    if (this.#closed) throw new Error('the transcript is closed')
    const writing = writeAll(this.#file.fd, text)
    this.#writing = writing.catch(() => undefined)
    await writing
    if (ON_DISK === undefined) await this.#file.datasync()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    try {
      await this.#writing
      await this.#file.close()
    } finally {
      this.#held.release()
    }
  }
}

/** One trip to the system as a rule: it is done four times a turn, and takes most of what a turn takes. */
async function writeAll(fd: number, text: string): Promise<void> {
  const written = await writeSome(fd, text)
  if (written === Buffer.byteLength(text)) return
  let rest = Buffer.from(text).subarray(written)
  while (rest.length > 0) rest = rest.subarray(await writeSome(fd, rest))
}

const writeSome = (fd: number, data: string | Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    const done = (error: NodeJS.ErrnoException | null, written: number): void =>
      error === null ? resolve(written) : reject(error)
    if (typeof data === 'string') write(fd, data, done)
    else write(fd, data, done)
  })

async function readFrom(file: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size)
  let length = 0
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length, size - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return bytes.subarray(0, length)
}

async function exists(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r')
    await file.close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/** A new file is not there after a power cut unless its folder was written too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
