import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { JOB_LIMITS } from '@parley/protocol'
import type { InputCache } from './input-cache.ts'
import { type ListedInput, InputRefused, checkInputs } from './input-path.ts'

/** What the gateway gives of a job's inputs. */
export interface InputSource {
  list(): Promise<{ readonly items: readonly ListedInput[] }>
  readChunk(
    path: string,
    offset: number,
  ): Promise<{ readonly chunk_b64: string; readonly next_offset: number; readonly eof: boolean }>
}

export interface FetchParts {
  readonly source: InputSource
  readonly cache: InputCache
  /** Empty, ours alone: `job.json` and `tests/` are made in it. */
  readonly folder: string
  readonly jobFileBytes: number
  readonly downloadsAtOnce: number
  readonly signal: AbortSignal
}

/** Brings a job's inputs into its folder, from the cache where it has them. Answers what there is. */
export async function fetchInputs({
  source,
  cache,
  folder,
  jobFileBytes,
  downloadsAtOnce,
  signal,
}: FetchParts): Promise<readonly ListedInput[]> {
  const items = checkInputs((await source.list()).items, jobFileBytes)
  for (const parent of new Set(items.map(({ path }) => dirname(join(folder, path))))) makeFolder(parent)
  const queue = items.values()
  let count = 0
  const bring = async (): Promise<void> => {
    for (const item of queue) {
      signal.throwIfAborted()
      // Small files are linked without a pause between them: everybody else gets a turn here.
      if (++count % BREATHER === 0) await new Promise<void>((resolve) => setImmediate(resolve))
      const to = join(folder, item.path)
      if (item.path === 'job.json' && item.size <= JOB_LIMITS.chunkBytes)
        writeFileSync(to, await readSmall(source, item, signal), { flag: 'wx', mode: 0o600 })
      else if (!(await cache.take(item.sha256, item.size, to))) await download(source, cache, item, to, signal)
    }
  }
  const results = await Promise.allSettled(Array.from({ length: downloadsAtOnce }, bring))
  for (const result of results) if (result.status === 'rejected') throw result.reason
  return items
}

const BREATHER = 64

/** What no other job has is not worth keeping. */
async function readSmall(source: InputSource, item: ListedInput, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  await receive(source, item, (chunk) => void chunks.push(chunk), signal)
  return Buffer.concat(chunks)
}

/** A path that is a file here and a folder there cannot come from an honest zip. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new InputRefused('an input path is a file and a folder at once', { cause })
  }
}

async function download(
  source: InputSource,
  cache: InputCache,
  item: ListedInput,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const part = cache.partPath()
  const file = await open(part, 'wx', 0o600)
  try {
    await receive(source, item, (chunk) => file.writeFile(chunk), signal)
    await file.close()
    await cache.keep(part, item.sha256, item.size, to)
  } catch (error) {
    await file.close()
    await rm(part, { force: true })
    throw error
  }
}

async function receive(
  source: InputSource,
  { path, size, sha256 }: ListedInput,
  write: (chunk: Buffer) => Promise<void> | void,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256')
  for (let offset = 0; offset < size;) {
    signal.throwIfAborted()
    const chunk = Buffer.from((await source.readChunk(path, offset)).chunk_b64, 'base64')
    if (chunk.length === 0 || chunk.length > JOB_LIMITS.chunkBytes || offset + chunk.length > size)
      throw new InputRefused(`${path} does not come as it was listed: ${chunk.length} bytes at ${offset} of ${size}`)
    hash.update(chunk)
    await write(chunk)
    offset += chunk.length
  }
  if (hash.digest('hex') !== sha256) throw new InputRefused(`${path} is not what its sha256 says`)
}
