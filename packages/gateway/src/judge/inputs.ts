import { createHash } from 'node:crypto'
import { type JobId, RecentMap, ToolError, wrongArgument } from '@parley/protocol'
import type { InputFile, JobInputs, Store } from '@parley/store'
import { type Judgeable, judgeableOf } from './counts.ts'

/** Jobs whose inputs are kept at hand, so that reading two thousand files does not parse their list two thousand times. */
const JOBS_MAX = 32
const SPEC_PATH = 'job.json'

/** One file as the judge sees it. */
export interface InputItem {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

/** The files of one job: `job.json`, then the others by path. They never change while the job exists. */
export interface Inputs {
  readonly items: readonly InputItem[]
  readonly judgeable: Judgeable
  read(path: string, offset: number, maxBytes: number): Promise<InputChunk>
}
export interface InputChunk {
  readonly bytes: Uint8Array
  readonly nextOffset: number
  readonly eof: boolean
}

export class InputShelf {
  readonly #store: Pick<Store, 'jobs' | 'blobs'>
  readonly #jobs = new RecentMap<JobId, Promise<Inputs>>(JOBS_MAX)

  constructor(store: Pick<Store, 'jobs' | 'blobs'>) {
    this.#store = store
  }

  of(id: JobId): Promise<Inputs> {
    const known = this.#jobs.get(id)
    if (known !== undefined) return known
    const opened = this.#open(id)
    this.#jobs.set(id, opened)
    opened.catch(() => this.#jobs.delete(id))
    return opened
  }

  forget(id: JobId): void {
    this.#jobs.delete(id)
  }

  async #open(id: JobId): Promise<Inputs> {
    const inputs = await this.#store.jobs.inputs(id)
    if (inputs === undefined) throw new ToolError('lease_lost', `job ${id} was deleted`)
    return openInputs(inputs, this.#store)
  }
}

function openInputs(inputs: JobInputs, store: Pick<Store, 'blobs'>): Inputs {
  const { blob } = inputs
  const spec = Buffer.from(JSON.stringify(inputs.spec))
  const files = new Map(inputs.files.map((file) => [file.path, file]))
  const specItem = { path: SPEC_PATH, size: spec.length, sha256: createHash('sha256').update(spec).digest('hex') }
  const fileItems = inputs.files.map(({ path, size, sha256 }) => ({ path, size, sha256 }))
  return {
    items: [specItem, ...fileItems.toSorted((a, b) => (a.path < b.path ? -1 : 1))],
    judgeable: judgeableOf(inputs),
    async read(path, offset, maxBytes) {
      if (path === SPEC_PATH) return chunkOf(spec.subarray(offset, offset + maxBytes), offset, spec.length)
      const file = files.get(path)
      if (file === undefined) throw wrongArgument('path', 'is not a file of this job', 'judge.input.list has the names')
      return readFile(store, blob, file, offset, maxBytes)
    },
  }
}

async function readFile(
  store: Pick<Store, 'blobs'>,
  blob: string | null,
  file: InputFile,
  offset: number,
  maxBytes: number,
): Promise<InputChunk> {
  const wanted = Math.min(maxBytes, file.size - offset)
  if (wanted <= 0) return chunkOf(new Uint8Array(), offset, file.size)
  const found = blob === null ? undefined : await store.blobs.read(blob, file.offset + offset, wanted)
  // The job holds its blob: only a deleted job is without.
  if (found === undefined) throw new ToolError('lease_lost', 'the inputs of this job are gone: it was deleted')
  return chunkOf(found.bytes, offset, file.size)
}

function chunkOf(bytes: Uint8Array, offset: number, size: number): InputChunk {
  const nextOffset = Math.min(offset, size) + bytes.length
  return { bytes, nextOffset, eof: nextOffset >= size }
}
