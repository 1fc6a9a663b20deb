import type { Verdict } from '@parley/protocol'
import { type ClockedRun, starvedWords, wasStarved } from '../box/starved.ts'
import type { CaseLimits } from './case-limits.ts'

const MIB = 1024 * 1024

/** A verdict that needs no look at the answer. */
export interface EndVerdict {
  readonly verdict: Verdict
  readonly message: string
}

/** What the way a run ended says. Undefined: it ended by itself within its limits, and its answer decides. */
export function endVerdict(run: ClockedRun, limits: CaseLimits, memorySigns: readonly string[]): EndVerdict | undefined {
  const { outcome } = run
  const { status, cpuMs, memoryBytes } = outcome
  if (status === 'sandbox-error') return { verdict: 'SE', message: outcome.message ?? 'the sandbox failed' }
  if (status === 'cpu-limit' || (status !== 'wall-limit' && cpuMs > limits.timeMs))
    return { verdict: 'TLE', message: `more than ${limits.timeMs} ms of processor time` }
  if (wasStarved(run)) return { verdict: 'SE', message: starvedWords(run) }
  if (status === 'wall-limit') return { verdict: 'ILE', message: idleWords(run) }
  if (status === 'memory-limit' || memoryBytes > limits.memoryBytes)
    return { verdict: 'MLE', message: `more than ${limits.memoryBytes / MIB} MiB of memory` }
  if (status === 'output-limit') return { verdict: 'OLE', message: `more than ${limits.outputBytes} bytes of output` }
  if (status === 'process-limit') return { verdict: 'RE', message: `more than ${limits.processes} processes` }
  if (status === 'ok') return undefined
  if (sayingSo(outcome.stderr.bytes, memorySigns)) return { verdict: 'MLE', message: 'it was refused memory' }
  return status === 'signal'
    ? { verdict: 'RE', message: `ended by ${outcome.signal}` }
    : { verdict: 'RE', message: `ended with code ${outcome.exitCode}` }
}

function idleWords({ outcome, clockMs }: ClockedRun): string {
  const waitedMs = Math.round(outcome.starvedMs ?? 0)
  const uncounted = waitedMs === 0 ? '' : `, ${waitedMs} ms of waiting for a processor not counted`
  return `no end within ${clockMs} ms, ${Math.round(outcome.cpuMs)} ms of them at work${uncounted}`
}

/** Whether one of the signs stands in what was written. */
export function sayingSo(bytes: Uint8Array, signs: readonly string[]): boolean {
  if (signs.length === 0 || bytes.length === 0) return false
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return signs.some((sign) => text.includes(sign))
}
