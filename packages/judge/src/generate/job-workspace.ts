import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type JobSpec, type TestCase, mainFile } from '@parley/protocol'
import { findCases } from '../test/find-cases.ts'

/** The folder in which an engine works on one job. */
export interface JobWorkspace {
  readonly folder: string
  /** The cases that the engine may see. */
  readonly samples: readonly TestCase[]
  readonly hiddenCases: number
  /** Of how many cases, hidden ones among them, the answer is judged. */
  readonly judgedCases: number
}

export interface WorkspaceOrder {
  readonly spec: JobSpec
  readonly inputFolder: string
  /** Made, with what is to be found in it, unless an earlier attempt of this claim has done so. */
  readonly folder: string
  readonly limitBytes: number
}

/** Lays the problem, the cases that may be seen and the user's code into a folder. */
export async function openWorkspace({ spec, inputFolder, folder, limitBytes }: WorkspaceOrder): Promise<JobWorkspace> {
  const { discovery } = await findCases({ spec, inputFolder })
  const cases = discovery?.cases ?? []
  const samples = cases.filter(({ hidden }) => !hidden)
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (made !== undefined) {
    await writeFile(join(folder, 'statement.md'), spec.problem.statement_md)
    if (spec.seed.current_code !== '') await put(join(folder, 'user-code', mainFile(spec.language)), spec.seed.current_code)
    await copySamples(samples, inputFolder, folder, limitBytes)
  }
  const judgedCases = cases.filter((testCase) => isJudgeable(testCase, spec)).length
  return { folder, samples, hiddenCases: cases.length - samples.length, judgedCases }
}

async function copySamples(samples: readonly TestCase[], inputFolder: string, folder: string, limitBytes: number): Promise<void> {
  const files = new Set(
    samples.flatMap(({ input_rel, expected_rel }) => [input_rel, ...(expected_rel === null ? [] : [expected_rel])]),
  )
  let left = limitBytes
  for (const name of files) {
    const { size } = await stat(join(inputFolder, name)).catch(() => ({ size: Number.POSITIVE_INFINITY }))
    if (size > left) continue
    left -= size
    const to = join(folder, name)
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await copyFile(join(inputFolder, name), to)
  }
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, text)
}

/** Whether there is something to judge an answer by: an expected output, or a program of the author. */
function isJudgeable({ expected_rel, compare_mode }: TestCase, { tests }: Pick<JobSpec, 'tests'>): boolean {
  const mode = compare_mode ?? tests.compare.mode
  return expected_rel !== null || mode === 'checker' || mode === 'interactive'
}
