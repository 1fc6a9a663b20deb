import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTethered } from '../run/tethered.ts'
import { environment } from '../test/environment.ts'
import type { RunResult } from './compare.ts'
import type { PlannedPart } from './plan.ts'
import type { ToldResult } from './result-reporter.ts'
import { RESULT_VARIABLE } from './result-variable.ts'

/** No part takes so long, even with every core busy. */
const RUN_LIMIT_MINUTES = 60
/** Everybody may write there, as in any folder for temporary files. */
const OPEN_TO_ALL = 0o1777

export interface PartRun {
  readonly root: string
  readonly part: PlannedPart
  readonly seed: number
  readonly log: string
  readonly signal: AbortSignal
}

/** Runs the files of a part once, in the order of the seed. Undefined when it was stopped: then it says nothing. */
export async function runPart({ root, part, seed, log, signal }: PartRun): Promise<RunResult | undefined> {
  // A folder of its own for temporary files, so that a run that is cut off leaves none behind.
  const scratch = mkdtempSync(join(tmpdir(), 'pf-'))
  chmodSync(scratch, OPEN_TO_ALL)
  mkdirSync(join(log, '..'), { recursive: true })
  const output = openSync(log, 'w')
  try {
    const result = join(scratch, 'result.json')
    const config = join(import.meta.dirname, 'vitest.config.ts')
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const files = part.files.map((file) => join(root, file))
    const args = [vitest, 'run', '--config', config, `--sequence.seed=${seed}`, ...files]
    const env = { ...environment(root, scratch), TMPDIR: scratch, [RESULT_VARIABLE]: result }
    const ended = await runTethered({ args, cwd: root, env, output, limitMs: RUN_LIMIT_MINUTES * 60_000, signal })
    if (ended.by === 'signal') return undefined
    const told = readTold(result)
    const outside = [...(told?.outside ?? []), ...ended.left.map(({ command }) => `left running: ${command}`)]
    const isBad = told === undefined || outside.length > 0 || Object.values(told.tests).some(({ state }) => state === 'failed')
    if (ended.by === 'time') outside.push(`not over after ${RUN_LIMIT_MINUTES} minutes`)
    else if (told === undefined || (ended.status !== 0 && !isBad)) outside.push(`the runner ended with ${ended.status}`)
    return { seed, outside, ...(told === undefined ? {} : { tests: told.tests }) }
  } finally {
    closeSync(output)
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
  }
}

function readTold(path: string): ToldResult | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isTold(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Our own reporter wrote it, whole or not at all. */
function isTold(value: unknown): value is ToldResult {
  return typeof value === 'object' && value !== null && 'tests' in value && 'outside' in value
}
