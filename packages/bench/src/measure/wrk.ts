import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { outputOf } from './output-of.ts'

const SCRIPT = join(dirname(fileURLToPath(import.meta.url)), 'wrk.lua')
const SEPARATOR = '\u001e'

const Load = z.object({
  calls: z.number(),
  seconds: z.number(),
  p50Ms: z.number(),
  p99Ms: z.number(),
  errors: z.number(),
  wrong: z.number(),
})
/** What one run of a load generator saw. */
export type Load = z.infer<typeof Load>

/** One request, split where the nine digits of its id go. */
export interface SplitRequest {
  readonly head: string
  readonly tail: string
}

export interface WrkRun {
  readonly url: string
  readonly connections: number
  readonly seconds: number
  readonly core: number
  readonly requests: readonly SplitRequest[]
  /** Every answer must contain it; looked at only when `check`. */
  readonly needle: string
  readonly check: boolean
}

/** Runs `wrk` on a core of its own. */
export async function runWrk(run: WrkRun): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-wrk-'))
  try {
    const parts = [run.needle, ...run.requests.flatMap(({ head, tail }) => [head, tail])]
    const file = join(folder, 'requests')
    await writeFile(file, parts.map((part) => `${part}${SEPARATOR}`).join(''))
    const options = ['-t1', `-c${run.connections}`, `-d${Math.ceil(run.seconds)}s`, '--latency', '-s', SCRIPT]
    const output = await outputOf('taskset', [
      '-c',
      String(run.core),
      'wrk',
      ...options,
      run.url,
      '--',
      file,
      run.check ? 'check' : 'fast',
    ])
    return parseLoad(output)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export function parseLoad(output: string): Load {
  const line = /^RESULT (.+)$/m.exec(output)?.[1]
  if (line === undefined) throw new Error(`the load generator gave no result:\n${output}`)
  return Load.parse(JSON.parse(line))
}
