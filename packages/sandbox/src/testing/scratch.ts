import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openSandbox, type RunLimits, type RunOutcome, type RunRequest, type Sandbox, type SandboxOptions } from '../index.ts'

const run = promisify(execFile)
const SOURCES = join(import.meta.dirname, '..', '..', 'fixture')
const MIB = 1024 * 1024
/** The helper takes seconds to compile: it is compiled once for all tests of one user, who alone may write there. */
const CACHE = join(tmpdir(), `parley-test-cage-${process.getuid?.() ?? 'user'}`)

export type Fixture = 'buffers' | 'reaches' | 'uses'
const FIXTURES: readonly Fixture[] = ['buffers', 'reaches', 'uses']

/** Enough for anything that behaves. */
export const ROOMY: RunLimits = {
  cpuMs: 5000,
  wallMs: 20_000,
  memoryBytes: 128 * MIB,
  outputBytes: 4 * MIB,
  processes: 32,
  boxBytes: 16 * MIB,
  openFiles: 64,
}

/** A folder of one test file's own, with the fixture programs and a sandbox's folders in it. */
export interface Scratch {
  readonly folder: string
  program(name: Fixture): string
  /** A request that runs one of the fixtures with these words. */
  request(name: Fixture, words: readonly (string | number)[], limits?: Partial<RunLimits>): RunRequest
  open(options?: Partial<SandboxOptions>): Promise<Sandbox>
  [Symbol.asyncDispose](): Promise<void>
}

/** Compiles the fixtures into a new folder that anybody may look into. */
export async function scratch(): Promise<Scratch> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-sandbox-'))
  const program = (name: Fixture): string => join(folder, name)
  const compile = (name: Fixture): Promise<unknown> =>
    run('cc', ['-O1', '-o', program(name), join(SOURCES, `${name}.c`), '-pthread'])
  await Promise.all([run('chmod', ['755', folder]), ...FIXTURES.map(compile)])
  return {
    folder,
    program,
    request: (name, words, limits = {}) => ({
      argv: [`./${name}`, ...words.map(String)],
      files: [{ name, from: { path: program(name) }, executable: true }],
      environment: {},
      limits: { ...ROOMY, ...limits },
    }),
    open: (options = {}) => openSandbox({ driver: 'cage', cacheFolder: CACHE, runFolder: join(folder, 'run'), ...options }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** What a run wrote, as text. */
export function textOf(outcome: RunOutcome): string {
  return Buffer.from(outcome.stdout.bytes).toString()
}

/** A shell command as a request. */
export function shell(command: string, limits: Partial<RunLimits> = {}): RunRequest {
  return { argv: ['/bin/sh', '-c', command], limits: { ...ROOMY, ...limits } }
}
