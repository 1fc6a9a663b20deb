import type { StartCodex } from '@parley/contracts'
import type { ProxyNetwork, RunLimits, StartLive } from '@parley/sandbox'
import { boxEnvironment, boxedProcess } from '@parley/codex/boxed'
import type { CodexProgram } from '@parley/codex'

export interface CodexBoxOptions {
  readonly start: StartLive
  readonly codex: CodexProgram
  /** CODEX_HOME; like the working folder it is there to write to. */
  readonly home: string
  readonly folder: string
  /** Whether a folder that is, or lies behind, a link is refused. */
  readonly unlinked: boolean
  /** Whether the folder may be written to. */
  readonly writable: boolean
  readonly hidden: readonly string[]
  readonly readable: readonly string[]
  readonly network: ProxyNetwork
  /** Runs beside each that is started; its signal ends it. */
  readonly watch: (running: (full: AbortSignal) => Promise<unknown>) => Promise<unknown>
}

const MIB = 1024 * 1024
const HOUR_MS = 60 * 60_000
/** Processor time is bounded by the clock first: what a model starts may use many cores. */
const CORES_COUNTED = 64
/** Codex, the status server and all that a model starts, together. */
const LIMITS: RunLimits = {
  wallMs: HOUR_MS,
  cpuMs: HOUR_MS * CORES_COUNTED,
  memoryBytes: 3 * 1024 * MIB,
  processes: 1_024,
  boxBytes: 512 * MIB,
  openFiles: 4_096,
  outputBytes: 0,
}

/** Starts Codex in a box that holds it: its own user, the folder and CODEX_HOME to write to, one way out. */
export function startInBox(options: CodexBoxOptions): StartCodex {
  const { start, codex, home, folder, unlinked, writable, hidden, readable, network } = options
  const environment = boxEnvironment(codex, home)
  return async (args) => {
    const program = await start(
      {
        kind: 'workspace',
        folder,
        unlinked,
        writable,
        alsoWritable: [home],
        hidden,
        readable: [...codex.readable, ...readable],
        network,
      },
      { argv: [...codex.argv, ...args], environment, limits: LIMITS },
    )
    const ended = options.watch(async (full) => {
      full.addEventListener('abort', () => program.kill(), { once: true })
      return program.ended
    })
    ended.catch(() => undefined)
    return boxedProcess(program)
  }
}
