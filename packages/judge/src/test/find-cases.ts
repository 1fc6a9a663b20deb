import { type Discovery, type JobError, TestsInvalid, discoverTestsIn } from '@parley/protocol'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestRequest } from '../tester.ts'

/** The job's cases and the names of all its test files; `error` when the tests cannot be judged as they are. */
export interface FoundCases {
  readonly discovery: Discovery | null
  readonly paths: readonly string[]
  readonly error: JobError | null
}

/** Finds the cases among the inputs on disk, by the same rules as the gateway. */
export async function findCases({ spec, inputFolder }: Pick<TestRequest, 'spec' | 'inputFolder'>): Promise<FoundCases> {
  if (!spec.tests.present) return { discovery: null, paths: [], error: null }
  const paths = await testFiles(inputFolder)
  const { format, samples } = spec.tests
  try {
    const discovery = await discoverTestsIn({ paths, format, samples }, () =>
      readFile(join(inputFolder, 'tests/manifest.json'), 'utf8'),
    )
    return { discovery, paths, error: null }
  } catch (error) {
    if (error instanceof TestsInvalid) return { discovery: null, paths, error: { code: 'invalid_tests', message: error.message } }
    throw error
  }
}

async function testFiles(inputFolder: string): Promise<readonly string[]> {
  const entries = await readdir(join(inputFolder, 'tests'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(inputFolder.length + 1))
}
