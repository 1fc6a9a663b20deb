import { type JobId, TOOLS, ToolError, isJsonObject, mainFile, parseJson } from '@parley/protocol'
import type { InputFile, JobInputs } from '@parley/store'
import { findJob, noSuchJob } from './find-job.ts'
import { readArtifact } from './read-artifact.ts'
import { type JobContext, type JobWorld, serveTool } from './job-world.ts'

/** What fits into one message, with room for the envelope around it. */
const REPLY_MAX_BYTES = 15 * 1024 * 1024
const TESTS = 'tests/'

export const jobGetArtifacts = serveTool(TOOLS['job.get_artifacts'], async ({ job_id, names }, { world, caller }) => {
  const { store } = world
  const job = await findJob(store, job_id, caller)
  const wanted = new Set(names ?? [mainFile(job.spec.language), 'solution.json', 'report.json'])
  const found = (await store.jobs.artifacts(job_id)).filter(({ name }) => wanted.has(name))
  checkFits(
    found,
    found.reduce((sum, { bytes }) => sum + bytes, 0),
  )
  const items: Record<string, string | Record<string, unknown>> = {}
  for (const artifact of found) {
    const text = await readArtifact(store.blobs, artifact)
    const value = artifact.name.endsWith('.json') ? parseJson(text) : undefined
    items[artifact.name] = isJsonObject(value) ? value : text
  }
  // Only now it is known how much longer quotes and line ends make it.
  checkFits(found, Buffer.byteLength(JSON.stringify(items)))
  return { items }
})

export const jobGetTests = serveTool(TOOLS['job.get_tests'], async ({ job_id }, context) => {
  const { cases } = await inputsOf(context, job_id)
  return { items: [...cases], total: cases.length }
})

export const jobGetTestPreview = serveTool(TOOLS['job.get_test_preview'], async (args, context) => {
  const { world } = context
  const inputs = await inputsOf(context, args.job_id)
  const input = fileOf(inputs, args.input_rel)
  if (input === undefined) throw notOfTheTests('input_rel')
  const { expected_rel = null } = args
  const expected = expected_rel === null ? undefined : fileOf(inputs, expected_rel)
  if (expected_rel !== null && expected === undefined && !inputs.cases.some((one) => one.expected_rel === expected_rel))
    throw notOfTheTests('expected_rel')
  return {
    input: await preview(world, inputs, input, args.max_bytes),
    expected:
      expected_rel === null ? null : expected === undefined ? MISSING : await preview(world, inputs, expected, args.max_bytes),
  }
})

/** A case names an answer that was not among the files. */
const MISSING = { text: '', truncated: false, bytes: 0, missing: true }

async function inputsOf({ world, caller }: JobContext, id: JobId): Promise<JobInputs> {
  await findJob(world.store, id, caller)
  const inputs = await world.store.jobs.inputs(id)
  if (inputs === undefined) throw noSuchJob(id)
  return inputs
}

/** Only names that are in the list are found: there is no path to go astray on. */
function fileOf({ files }: JobInputs, path: string): InputFile | undefined {
  return path.startsWith(TESTS) ? files.find((file) => file.path === path) : undefined
}

function notOfTheTests(field: 'input_rel' | 'expected_rel'): ToolError {
  return new ToolError('invalid_argument', `${field}: is none of the job's files under tests/`, {
    field,
    hint: 'job.get_tests lists them',
  })
}

async function preview({ store }: JobWorld, { blob }: JobInputs, file: InputFile, maxBytes: number) {
  const length = Math.min(file.size, maxBytes)
  const read = blob === null || length === 0 ? undefined : await store.blobs.read(blob, file.offset, length)
  const bytes = read?.bytes ?? new Uint8Array()
  const truncated = file.size > maxBytes
  // As a stream: the first bytes of a character whose rest was cut off are left out.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: truncated })
  return { text, truncated, bytes: file.size, missing: false }
}

function checkFits(artifacts: readonly { readonly name: string; readonly bytes: number }[], bytes: number): void {
  if (bytes <= REPLY_MAX_BYTES) return
  const listed = artifacts.map(({ name, bytes: size }) => `${name} (${size} bytes)`).join(', ')
  throw new ToolError('invalid_argument', `names: these do not fit into one answer of ${REPLY_MAX_BYTES} bytes: ${listed}`, {
    field: 'names',
    ...(artifacts.length > 1 ? { hint: 'name fewer of them at a time' } : {}),
  })
}
