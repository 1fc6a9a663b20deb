import type { CompileResult } from '@parley/protocol'
import type { BoxFile, RunOutcome } from '@parley/sandbox'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { BoxUse } from '../box/core.ts'
import type { Cores } from '../box/cores.ts'
import { starvedWords, wasStarved } from '../box/starved.ts'
import type { BuildData } from '../language/language-data.ts'
import { PLAIN_ENVIRONMENT, type Toolchain, fillCommand, showCommand, sourceName } from '../language/toolchain.ts'
import { COMPILE_LIMITS, compileLimits } from './compile-limits.ts'
import { compileResult, unreadResult } from './compile-result.ts'
import type { HeaderCache } from './header-cache.ts'
import type { CachedProgram, ProgramCache } from './program-cache.ts'
import type { Program } from './program.ts'
import { Cancelled, SharedWork } from './shared-work.ts'

/** A source and what belongs to it. */
export interface ProgramSource {
  readonly toolchain: Toolchain
  readonly code: string
  /** Whose job it is for. What somebody else had compiled is not used for it: that it was quick would tell who sent what. */
  readonly owner: string | null
  /** Headers that lie beside it while it is compiled. */
  readonly beside: readonly { readonly name: string; readonly bytes: Uint8Array }[]
  readonly use: BoxUse
}

/** A program that can be run until it is released, or why there is none. */
export type Compiled =
  | { readonly ok: true; readonly program: Program; readonly result: CompileResult; readonly release: () => void }
  | { readonly ok: false; readonly result: CompileResult }

/** The sandbox failed twice while it compiled, or the machine was too busy for that; the source is not to blame. */
export class CompilerBroken extends Error {
  readonly code = 'compiler_broken'
  constructor(message: string) {
    super(message)
    this.name = 'CompilerBroken'
  }
}

/** Makes programs of sources, each once for its owner: the same source for two jobs at once is compiled for both. */
export class Compiler {
  readonly #cores: Cores
  readonly #programs: ProgramCache
  readonly #headers: HeaderCache
  readonly #underWay = new SharedWork<CompileResult>()

  constructor(cores: Cores, programs: ProgramCache, headers: HeaderCache) {
    this.#cores = cores
    this.#programs = programs
    this.#headers = headers
  }

  /**
   * Throws `Cancelled` when the signal fires, `CompilerBroken` for a failure of our own. `begins` is called when a compiler is
   * needed: not for a program that was compiled before.
   */
  async compile(source: ProgramSource, signal: AbortSignal, begins: () => void = () => {}): Promise<Compiled> {
    const { build } = source.toolchain.data
    const name = sourceName(source.toolchain.data, source.code)
    return build === null ? asItIs(source, name) : await this.#build(source, build, name, { signal, begins })
  }

  /** Whether a source that is run as it is can be read at all. */
  async check(source: ProgramSource, signal: AbortSignal): Promise<CompileResult> {
    const { check, source: file } = source.toolchain.data
    const name = sourceName(source.toolchain.data, source.code)
    const [tool, ...rest] = check ?? []
    if (tool === undefined) return unreadResult([])
    const memoryBytes = compileLimits(CHECK_MEMORY_BYTES).memoryBytes
    const outcome = await this.#run(source, { argv: [tool, ...rest], environment: {}, memoryBytes, keep: [], name, file }, signal)
    const cmd = showCommand(source.toolchain, [tool, ...rest], { name, memoryMb: 0 })
    return compileResult(cmd, outcome, { memoryBytes, leftProgram: true })
  }

  async #build(
    source: ProgramSource,
    build: BuildData,
    name: string,
    { signal, begins }: { readonly signal: AbortSignal; readonly begins: () => void },
  ): Promise<Compiled> {
    const key = programKey(source, build)
    const found = await this.#programs.get(key)
    if (found !== undefined) return { ...built(source, build, name, found), result: { ...found.result, cached: true } }
    begins()
    const result = await this.#underWay.do(key, (work) => this.#make(key, source, build, name, work), signal)
    if (!result.ok) return { ok: false, result }
    const made = await this.#programs.get(key)
    if (made === undefined) throw new CompilerBroken('a program was gone from the cache as soon as it was there')
    return { ...built(source, build, name, made), result }
  }

  async #make(key: string, source: ProgramSource, build: BuildData, name: string, signal: AbortSignal): Promise<CompileResult> {
    const { toolchain } = source
    const draft = this.#programs.draft()
    const headers = this.#headers.folderFor(toolchain, source.code)
    const [tool, ...rest] = build.command
    try {
      const outcome = await this.#run(
        source,
        {
          argv: headers === undefined ? [tool, ...rest] : [tool, '-I', headers, ...rest],
          environment: build.environment,
          memoryBytes: build.memoryBytes,
          keep: [{ name: build.program, to: draft, limitBytes: COMPILE_LIMITS.programBytes }],
          name,
          file: toolchain.data.source,
          ...(headers === undefined ? {} : { headers }),
        },
        signal,
      )
      const cmd = showCommand(toolchain, build.shown ?? build.command, { name, memoryMb: 0 })
      const result = compileResult(cmd, outcome, { memoryBytes: build.memoryBytes, leftProgram: outcome.kept.length === 1 })
      if (result.ok) {
        const held = await this.#programs.put(key, draft, result)
        // Those who wait take hold of it in the microtasks that follow; it must not be thrown out before.
        setImmediate(() => held.release())
      }
      return result
    } finally {
      await rm(draft, { force: true })
    }
  }

  /** Runs a compiler. Our own failure is tried once more in a fresh box. */
  async #run(
    { toolchain, code, owner, beside, use }: ProgramSource,
    order: CompilerOrder,
    signal: AbortSignal,
  ): Promise<RunOutcome> {
    const words = { name: order.name, memoryMb: 0 }
    const files: BoxFile[] = beside.map(({ name, bytes }) => ({ name, from: { bytes } }))
    files.push({ name: order.file.replaceAll('{name}', () => order.name), from: { bytes: Buffer.from(code) } })
    for (let tries = 1; ; tries += 1) {
      const held = await this.#cores.one({ owner }, signal).catch((cause: unknown) => Promise.reject(new Cancelled({ cause })))
      try {
        const box = await held.place.box(use)
        const outcome = await box.run(
          {
            argv: fillCommand(toolchain, order.argv, words),
            environment: { ...PLAIN_ENVIRONMENT, ...toolchain.data.environment, ...order.environment },
            files,
            readable: order.headers === undefined ? toolchain.readable : [...toolchain.readable, order.headers],
            keep: order.keep,
            captureBytes: { stdout: COMPILE_LIMITS.keptOutputBytes, stderr: COMPILE_LIMITS.keptOutputBytes },
            limits: compileLimits(order.memoryBytes),
          },
          signal,
        )
        if (signal.aborted) throw new Cancelled({ cause: signal.reason })
        const clocked = { outcome, clockMs: COMPILE_LIMITS.wallMs, partnerStarvedMs: 0 }
        if (wasStarved(clocked)) throw new CompilerBroken(`the compiler could not be run: ${starvedWords(clocked)}`)
        if (outcome.status !== 'sandbox-error') return outcome
        await held.place.renew()
        if (tries === TRIES) throw new CompilerBroken(outcome.message ?? 'the sandbox failed')
      } finally {
        held.release()
      }
    }
  }
}

const TRIES = 2
const CHECK_MEMORY_BYTES = 1024 * 1024 * 1024

interface CompilerOrder {
  readonly argv: readonly [string, ...string[]]
  readonly environment: Readonly<Record<string, string>>
  readonly memoryBytes: number
  readonly keep: readonly { readonly name: string; readonly to: string; readonly limitBytes: number }[]
  readonly name: string
  readonly file: string
  readonly headers?: string
}

function asItIs({ toolchain, code, beside }: ProgramSource, name: string): Compiled {
  const files: BoxFile[] = beside.map(({ name: other, bytes }) => ({ name: other, from: { bytes } }))
  files.push({ name: toolchain.data.source, from: { bytes: Buffer.from(code) } })
  const cmd = showCommand(toolchain, toolchain.data.check ?? [], { name, memoryMb: 0 })
  return { ok: true, program: { toolchain, name, files }, result: unreadResult(cmd), release: () => undefined }
}

function built(
  { toolchain }: ProgramSource,
  build: BuildData,
  name: string,
  cached: CachedProgram,
): Compiled & { readonly ok: true } {
  const file: BoxFile = { name: build.program, from: { path: cached.path }, executable: true }
  return { ok: true, program: { toolchain, name, files: [file] }, result: cached.result, release: cached.release }
}

/** All that the program depends on, and whose it is. A precompiled header changes how fast it is made, not what is made. */
function programKey({ toolchain, code, owner, beside }: ProgramSource, build: BuildData): string {
  const hash = createHash('sha256')
  const { tool, version } = toolchain
  hash.update(
    JSON.stringify([
      owner,
      tool,
      version,
      build.command,
      build.environment,
      beside.map(({ name, bytes }) => [name, bytes.length]),
    ]),
  )
  for (const { bytes } of beside) hash.update(bytes)
  return hash.update('\0').update(code).digest('hex')
}
