import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { SteadyClient } from '@parley/client'
import { JOB_LIMITS, type JobId } from '@parley/protocol'
import { columns, plainLines, plainText } from '@parley/screen'
import { atPath, CommandError, type Invocation, noneOf } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { withJob } from './job.ts'

/** What a job produced. */
export const jobArtifacts = (invocation: Invocation): Promise<number> =>
  withJob(invocation, async (caller, job_id) => {
    const { io, values, positionals } = invocation
    const [, wanted] = positionals
    const out = values.text('out')
    const { artifacts } = await caller.call('job.get_state', { job_id })
    const names = chosen(job_id, artifacts.names, wanted)
    if (wanted === undefined && out === undefined && !values.has('json')) {
      if (names.length === 0) io.err(`${job_id} has no artifacts\n`)
      else io.out(`${names.map(plainText).join('\n')}\n`)
      return 0
    }
    const { items } = await caller.call('job.get_artifacts', { job_id, names: [...names] })
    if (values.has('json')) return show(invocation, { job_id, items }, '')
    for (const [name, content] of Object.entries(items)) {
      const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
      if (out === undefined) io.out(io.screen() === undefined ? text : plainLines(text))
      else {
        const path = placeFor(io.cwd, out, name)
        atPath(`--out ${out}`, () => writeFileSync(path, text))
        io.err(`${path}\n`)
      }
    }
    return 0
  })

/** What was handed in: a list of it, one of it on standard output, or all of it in a folder. */
export const jobInput = (invocation: Invocation): Promise<number> =>
  withJob(invocation, async (caller, job_id) => {
    const { io, values, positionals } = invocation
    const [, wanted] = positionals
    const out = values.text('out')
    const { items } = await caller.call('job.get_input', { job_id })
    const names = chosen(
      job_id,
      items.map(({ path }) => path),
      wanted,
    )
    if (out !== undefined) {
      for (const name of names) await writeInput(caller, { job_id, path: name }, { io, out })
      return values.has('json') ? show(invocation, { job_id, folder: resolve(io.cwd, out), items }, '') : 0
    }
    if (wanted === undefined) {
      const rows = items.map(({ path, bytes }) => [path, `${bytes} bytes`])
      return show(invocation, { job_id, items }, columns(rows, io.screen()))
    }
    const pieces: Uint8Array[] = []
    for await (const piece of piecesOf(caller, { job_id, path: wanted })) pieces.push(piece)
    const content = Buffer.concat(pieces)
    if (values.has('json')) return show(invocation, { job_id, path: wanted, content_b64: content.toString('base64') }, '')
    io.out(io.screen() === undefined ? content : plainLines(content.toString('utf8')))
    return 0
  })

interface InputFile {
  readonly job_id: JobId
  readonly path: string
}

/** A file that was handed in, a piece at a time: tests may be larger than what one wants in memory. */
async function* piecesOf(caller: SteadyClient, file: InputFile): AsyncGenerator<Uint8Array> {
  for (let offset = 0; ;) {
    const read = await caller.call('job.read_input', { ...file, offset, max_bytes: JOB_LIMITS.chunkBytes })
    yield Buffer.from(read.chunk_b64, 'base64')
    if (read.eof || read.next_offset <= offset) return
    offset = read.next_offset
  }
}

async function writeInput(
  caller: SteadyClient,
  file: InputFile,
  { io, out }: { readonly io: Invocation['io']; readonly out: string },
): Promise<void> {
  const path = placeFor(io.cwd, out, file.path)
  const fd = atPath(`--out ${out}`, () => openSync(path, 'w'))
  try {
    for await (const piece of piecesOf(caller, file)) atPath(`--out ${out}`, () => writeFileSync(fd, piece))
  } finally {
    closeSync(fd)
  }
  io.err(`${path}\n`)
}

function chosen(jobId: JobId, names: readonly string[], wanted: string | undefined): readonly string[] {
  if (wanted === undefined) return names
  if (names.includes(wanted)) return [wanted]
  const { message, hint } = noneOf('NAME', wanted, names.map(plainText))
  if (names.length === 0) throw new CommandError('not_found', `${jobId} has no ${wanted}`, { hint: 'it has: nothing' })
  throw new CommandError('not_found', message, hint === undefined ? {} : { hint })
}

/** Names come from judges and zips: only those that stay in the folder, and are no hidden file there, become files. */
function placeFor(cwd: string, out: string, name: string): string {
  if (!name.split('/').every((part) => PLAIN_NAME.test(part)))
    throw new CommandError('bad_name', `${plainText(name)} is no name for a file`)
  const path = join(resolve(cwd, out), name)
  atPath(`--out ${out}`, () => mkdirSync(dirname(path), { recursive: true }))
  return path
}
const PLAIN_NAME = /^[^\p{Cc}\p{Cf}\\/:.][^\p{Cc}\p{Cf}\\/:]*$/u
