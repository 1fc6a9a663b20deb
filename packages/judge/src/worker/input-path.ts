import { JOB_LIMITS } from '@parley/protocol'

/** One file of a job as the gateway lists it. */
export interface ListedInput {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

/** What a gateway sent is not what a gateway may send: nothing of it was used. */
export class InputRefused extends Error {
  readonly code = 'input_refused'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'InputRefused'
  }
}

const SEGMENT_BYTES = 255
const PATH_BYTES = 1_024
/** `tests` itself and the depth of a zip below it. */
const DEPTH = JOB_LIMITS.zipDepth + 1
const HASH = /^[0-9a-f]{64}$/

/** The files that may be written, or `InputRefused`. The gateway checked them too; here nobody has to trust it. */
export function checkInputs(items: readonly ListedInput[], jobFileBytes: number): readonly ListedInput[] {
  if (items.length > JOB_LIMITS.zipEntries + 1) throw new InputRefused(`${items.length} input files are too many`)
  let total = 0
  const seen = new Set<string>()
  for (const { path, size, sha256 } of items) {
    const problem = problemOf(path)
    if (problem !== undefined) throw new InputRefused(`input path ${JSON.stringify(path.slice(0, 200))} ${problem}`)
    if (seen.has(path)) throw new InputRefused(`input path ${path} is listed twice`)
    seen.add(path)
    if (!HASH.test(sha256)) throw new InputRefused(`the sha256 of ${path} is none`)
    const limit = path === 'job.json' ? jobFileBytes : JOB_LIMITS.zipFileBytes
    if (!Number.isSafeInteger(size) || size < 0 || size > limit)
      throw new InputRefused(`${path} has ${size} bytes, ${limit} are allowed`)
    total += size
  }
  if (total > JOB_LIMITS.zipTotalBytes + jobFileBytes) throw new InputRefused(`the inputs have ${total} bytes together, too many`)
  for (const path of seen)
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
      if (seen.has(path.slice(0, cut))) throw new InputRefused(`input path ${path.slice(0, cut)} is a file and a folder at once`)
  if (!seen.has('job.json')) throw new InputRefused('job.json is missing among the inputs')
  return items
}

/** What is wrong with a path, if anything. Paths are `job.json` or below `tests/`, with `/` between plain names. */
function problemOf(path: string): string | undefined {
  if (path === 'job.json') return undefined
  if (Buffer.byteLength(path) > PATH_BYTES) return 'is too long'
  // oxlint-disable-next-line no-control-regex -- exactly those are looked for
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return 'holds a character that no path of ours has'
  const [first, ...below] = path.split('/')
  if (first !== 'tests' || below.length === 0) return 'is neither job.json nor below tests/'
  if (below.length > DEPTH) return 'is too deep'
  const isBad = (name: string): boolean => name === '' || name === '.' || name === '..' || Buffer.byteLength(name) > SEGMENT_BYTES
  return below.some(isBad) ? 'leaves its folder or has an empty or overlong part' : undefined
}
