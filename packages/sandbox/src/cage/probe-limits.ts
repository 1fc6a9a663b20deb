import type { RunLimits } from '../sandbox.ts'

const MIB = 1024 * 1024

/** Of a probe of our own in a box. Time enough for a machine that is slow or busy: what is tried is not time. */
export const PROBE_LIMITS: RunLimits = {
  cpuMs: 15_000,
  wallMs: 30_000,
  starvedWallMs: 150_000,
  memoryBytes: 32 * MIB,
  outputBytes: 4096,
  processes: 8,
  boxBytes: 16 * MIB,
  openFiles: 256,
}
