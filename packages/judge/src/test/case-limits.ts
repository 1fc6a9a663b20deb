import { ALONE_WALL, JOB_LIMITS, type JobSpec, caseWallMs } from '@parley/protocol'
import { sparing } from '../box/starved.ts'
import type { Toolchain } from '../language/toolchain.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** What one case of a job may take. */
export interface CaseLimits {
  readonly timeMs: number
  readonly memoryMb: number
  /** The job's limit and what the runtime takes for itself. */
  readonly memoryBytes: number
  readonly outputBytes: number
  readonly processes: number
}

export const STDERR_BYTES = 64 * KIB
const BOX_BYTES = 128 * MIB
const OPEN_FILES = 1_024

/**
 * Beside others a program may use more processor time than alone: caches and memory are shared. One that ends below this part
 * of its limit above it gets a second run alone; one that goes beyond is too slow in any case.
 */
const NEAR_LIMIT = 1.25
/**
 * A program that waited for the clock although it had this part of its time may have been kept from running, not idle: not every
 * kernel counts what is waited for a processor, and none counts it for processes that have ended.
 */
const STARVED_PART = 0.25

export function caseLimits({ limits }: JobSpec, { data }: Toolchain): CaseLimits {
  return {
    timeMs: limits.time_limit_ms * data.timeFactor,
    memoryMb: limits.memory_limit_mb,
    memoryBytes: limits.memory_limit_mb * MIB + data.memoryAllowanceBytes,
    outputBytes: Math.min(limits.max_output_bytes_per_test, JOB_LIMITS.outputBytesPerTest),
    processes: limits.pids_limit,
  }
}

/** The bounds of a run beside others, and of one that has the machine to itself. */
export function runLimits(
  { timeMs, memoryBytes, outputBytes, processes }: CaseLimits,
  company: 'beside' | 'alone',
): ReturnType<typeof sparing> {
  const wallMs = caseWallMs(timeMs)
  return sparing({
    cpuMs: company === 'beside' ? Math.ceil(timeMs * NEAR_LIMIT) : timeMs,
    wallMs: company === 'beside' ? wallMs : wallMs * ALONE_WALL,
    memoryBytes,
    outputBytes,
    processes,
    boxBytes: BOX_BYTES,
    openFiles: OPEN_FILES,
  })
}

/** Whether a run beside others says too little: it came near its limit, or got too little of a core. */
export function isDoubtful(
  { status, cpuMs }: { readonly status: string; readonly cpuMs: number },
  { timeMs }: CaseLimits,
): boolean {
  if (status === 'cpu-limit') return false
  if (status === 'wall-limit') return cpuMs > timeMs * STARVED_PART
  return cpuMs > timeMs
}

/** What a checker or an interactor may take: it is the author's, so the bounds are wide and its own. */
export const AUTHOR_MEMORY_MB = 1_024
export const AUTHOR_LIMITS = sparing({
  cpuMs: 20_000,
  wallMs: 60_000,
  memoryBytes: (AUTHOR_MEMORY_MB + 256) * MIB,
  outputBytes: 64 * MIB,
  processes: 128,
  boxBytes: 256 * MIB,
  openFiles: OPEN_FILES,
})
