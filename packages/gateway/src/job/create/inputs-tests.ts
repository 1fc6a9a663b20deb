import { textFault } from '@parley/access'
import {
  type Discovery,
  JOB_LIMITS,
  type JudgeProgram,
  MANIFEST_BYTES_MAX,
  MANIFEST_PATH,
  TestsInvalid,
  type TestsProgram,
  ToolError,
  discoverTestsIn,
} from '@parley/protocol'
import type { Blobs } from '@parley/store'
import {
  type Source,
  type TestsZip,
  type ZipField,
  ZipRefused,
  atField,
  blobSource,
  bufferSource,
  decodeZip,
  openTestsZip,
} from '@parley/tests-zip'
import type { CreateArguments } from './checks.ts'

const MIB = 1024 * 1024

/** The tests that came with a job: looked at and understood, nothing stored yet. */
export interface HandedTests {
  readonly field: ZipField
  readonly zip: TestsZip
  readonly discovery: Discovery
  /** Programs that the manifest names, with their texts. */
  readonly checker: JudgeProgram | null
  readonly interactor: JudgeProgram | null
}

/** Reads what came as `tests_zip_b64` or `tests_blob`. Throws `ToolError` at the field that is at fault. */
export async function readTests(
  args: CreateArguments,
  blobs: Pick<Blobs, 'hold' | 'isHeld' | 'read' | 'stat'>,
  holder: string,
): Promise<HandedTests | undefined> {
  const { tests_zip_b64: text, tests_blob: sha256 } = args
  if (text !== undefined) return understood(args, 'tests_zip_b64', () => Promise.resolve(bufferSource(decodeZip(text))))
  if (sha256 !== undefined) return understood(args, 'tests_blob', () => ownBlob(blobs, sha256, holder))
  return undefined
}

function understood(args: CreateArguments, field: ZipField, open: () => Promise<Source>): Promise<HandedTests> {
  return atField(field, async () => {
    const zip = await openTestsZip(await open())
    const options = { paths: zip.paths, format: args.tests_format, samples: args.samples ?? null }
    const discovery = await discovered(field, () => discoverTestsIn(options, () => zip.text(MANIFEST_PATH, MANIFEST_BYTES_MAX)))
    const checker = await programOf(zip, field, discovery.checker)
    return { field, zip, discovery, checker, interactor: await programOf(zip, field, discovery.interactor) }
  })
}

/** Somebody else's blob is as unknown as one that never was. Looking at it again keeps it for another day. */
async function ownBlob(blobs: Pick<Blobs, 'hold' | 'isHeld' | 'read' | 'stat'>, sha256: string, holder: string): Promise<Source> {
  const isOwn = await blobs.isHeld(sha256, holder)
  const stat = isOwn ? await blobs.stat(sha256) : undefined
  if (stat === undefined)
    throw new ToolError('not_found', `tests_blob: there is no blob ${sha256}`, {
      field: 'tests_blob',
      hint: 'upload it with blob.begin, blob.write and blob.commit; it is kept for a day',
    })
  if (stat.bytes > JOB_LIMITS.zipBytes)
    throw new ZipRefused(`has ${stat.bytes} bytes, ${JOB_LIMITS.zipBytes / MIB} MiB are the most for a zip`)
  await blobs.hold(sha256, holder)
  return blobSource(blobs, sha256, stat.bytes)
}

async function discovered(zipField: ZipField, discover: () => Promise<Discovery>): Promise<Discovery> {
  try {
    return await discover()
  } catch (error) {
    if (!(error instanceof TestsInvalid)) throw error
    const field = error.field === 'tests' ? zipField : error.field
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    throw new ToolError('invalid_argument', `${field}: ${error.message}`, { field, ...hint, cause: error })
  }
}

async function programOf(zip: TestsZip, field: ZipField, program: TestsProgram | undefined): Promise<JudgeProgram | null> {
  if (program === undefined) return null
  const source = await zip.text(program.path, JOB_LIMITS.codeBytes)
  if (source === '') throw new ZipRefused(`${program.path} is empty`)
  const fault = textFault(source)
  if (fault !== undefined) throw new ZipRefused(`${program.path} ${fault}`)
  return { language: program.language, source }
}
