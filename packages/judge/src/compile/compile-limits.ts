import type { RunLimits } from '@parley/sandbox'
import { sparing } from '../box/starved.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** What compiling may take, whatever the job's own limits are. */
export const COMPILE_LIMITS = {
  cpuMs: 30_000,
  wallMs: 60_000,
  /** Messages beyond this end the compiler. */
  outputBytes: 4 * MIB,
  /** Messages kept in the report, of each stream. */
  keptOutputBytes: 64 * KIB,
  processes: 64,
  boxBytes: 256 * MIB,
  openFiles: 512,
  programBytes: 64 * MIB,
} as const

/** What the standard library's header may take; it is ours, so the bounds are wide. */
export const HEADER_LIMITS: RunLimits = sparing({
  cpuMs: 120_000,
  wallMs: 300_000,
  memoryBytes: 2_048 * MIB,
  outputBytes: MIB,
  processes: 64,
  boxBytes: 512 * MIB,
  openFiles: 512,
})
export const HEADER_BYTES = 384 * MIB
/** Precompiled headers kept on disk: one for each standard of two compilers. */
export const HEADERS_KEPT = 6

/** Compiled programs kept on disk. */
export const CACHE_BYTES = 2_048 * MIB
export const CACHE_ENTRIES = 20_000

export function compileLimits(memoryBytes: number): RunLimits {
  const { cpuMs, wallMs, outputBytes, processes, boxBytes, openFiles } = COMPILE_LIMITS
  return sparing({ cpuMs, wallMs, memoryBytes, outputBytes, processes, boxBytes, openFiles })
}
