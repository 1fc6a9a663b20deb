import { type JobSpec, type JudgeProgram, mainFile } from '@parley/protocol'
import type { JobInputs, Store } from '@parley/store'

const TESTS = 'tests/'

/** One file of what somebody handed in. */
export interface HandedIn {
  readonly path: string
  readonly bytes: number
  /** As much as there is from an offset on, up to so many bytes; `undefined` when the job was deleted meanwhile. */
  read(offset: number, maxBytes: number): Promise<Uint8Array | undefined>
}

/** What the owner of a job handed in, as files: the texts by usual names, then the tests by their own. */
export function handedIn(inputs: JobInputs, blobs: Store['blobs']): readonly HandedIn[] {
  const { blob } = inputs
  const files = inputs.files.filter(({ path }) => path.startsWith(TESTS))
  const tests = files.map(({ path, offset: start, size }): HandedIn => ({
    path,
    bytes: size,
    read: async (offset, maxBytes) => {
      const length = Math.min(maxBytes, size - offset)
      if (length <= 0) return new Uint8Array()
      return blob === null ? undefined : (await blobs.read(blob, start + offset, length))?.bytes
    },
  }))
  return [...textsOf(inputs.spec), ...tests.toSorted((a, b) => (a.path < b.path ? -1 : 1))]
}

function textsOf({ problem, seed, language, tests: { checker, interactor } }: JobSpec): HandedIn[] {
  return [
    ...text('statement.md', problem.statement_md),
    ...text(mainFile(language), seed.current_code),
    ...program('checker', checker),
    ...program('interactor', interactor),
  ]
}

const program = (name: string, given: JudgeProgram | null): HandedIn[] =>
  given === null ? [] : text(mainFile(given.language).replace('main', name), given.source)

/** What is empty was not handed in. */
function text(path: string, content: string): HandedIn[] {
  if (content === '') return []
  const bytes = Buffer.from(content)
  return [{ path, bytes: bytes.length, read: async (offset, maxBytes) => bytes.subarray(offset, offset + maxBytes) }]
}
