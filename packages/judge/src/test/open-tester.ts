import type { Report } from '@parley/protocol'
import type { Sandbox } from '@parley/sandbox'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Cores } from '../box/cores.ts'
import { Comparers } from '../check/comparers.ts'
import { CACHE_BYTES, CACHE_ENTRIES } from '../compile/compile-limits.ts'
import { Compiler } from '../compile/compiler.ts'
import { HeaderCache } from '../compile/header-cache.ts'
import { ProgramCache } from '../compile/program-cache.ts'
import type { LanguageFacts, TestListener, TestRequest, Tester } from '../tester.ts'
import { probeLanguages } from '../language/probe-languages.ts'
import { type TestBench, runTest } from './run-test.ts'

/** What a tester is given by whoever opens it. */
export interface TesterOptions {
  readonly sandbox: Sandbox
  /** How many programs may run at once; one for each core keeps times true. */
  readonly cores: number
  /** Compiled programs and headers, kept between starts. It belongs to one judge at a time. */
  readonly cacheFolder: string
  /** Where compilers and interpreters are looked for. */
  readonly searchPath: readonly string[]
  /** The Node that runs JavaScript and TypeScript. */
  readonly nodePath: string
  /** The home of whoever runs the judge: no box ever shows it whole. */
  readonly homeFolder?: string
  /** How much the compiled programs on disk may take together. */
  readonly cacheBytes?: number
}

/** Opens the boxes, asks which languages the machine has, and is ready to test. */
export async function openTester(options: TesterOptions): Promise<Tester> {
  const { sandbox, cacheFolder } = options
  await mkdir(cacheFolder, { recursive: true, mode: 0o700 })
  const cores = new Cores(sandbox, options.cores)
  try {
    const programs = await ProgramCache.open(join(cacheFolder, 'programs'), {
      bytes: options.cacheBytes ?? CACHE_BYTES,
      entries: CACHE_ENTRIES,
    })
    const headers = await HeaderCache.open(join(cacheFolder, 'headers'), cores)
    const toolchains = await probeLanguages(cores, options)
    const compiler = new Compiler(cores, programs, headers)
    return new CoreTester({ sandbox, cores, comparers: new Comparers(), compiler, toolchains }, headers)
  } catch (error) {
    await cores.close()
    throw error
  }
}

class CoreTester implements Tester {
  readonly languages: readonly LanguageFacts[]
  readonly #bench: TestBench
  readonly #headers: HeaderCache
  readonly #closing = new AbortController()
  readonly #underWay = new Set<Promise<unknown>>()

  constructor(bench: TestBench, headers: HeaderCache) {
    this.#bench = bench
    this.#headers = headers
    this.languages = [...bench.toolchains.values()].map(({ data, version }) => ({ language: data.language, version }))
  }

  async test(request: TestRequest, listener: TestListener, signal: AbortSignal): Promise<Report> {
    const test = runTest(this.#bench, request, listener, AbortSignal.any([signal, this.#closing.signal]))
    this.#underWay.add(test)
    try {
      return await test
    } finally {
      this.#underWay.delete(test)
    }
  }

  /** What is under way ends as cancelled. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled(this.#underWay)
    await this.#headers.close()
    await this.#bench.cores.close()
  }
}
