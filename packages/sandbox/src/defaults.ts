import { constants } from 'node:os'
import type { RunOutcome } from './sandbox.ts'

/** How much of each stream comes back when the request does not say. */
export const DEFAULT_CAPTURE_BYTES = 64 * 1024

/** What a program finds in its environment when the request does not say. */
export const DEFAULT_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/box',
  LANG: 'C.UTF-8',
}

// Some have two names; the first is the usual one.
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .map(([name, number]): [number, string] => [number, name])
    .reverse(),
)

/** `SIGSEGV` for 11; one without a name is called by its number. */
export function signalName(number: number): string {
  return SIGNALS.get(number) ?? `SIG${number}`
}

/** The outcome of a run that never was. */
export function failedOutcome(message: string): RunOutcome {
  const nothing = { bytes: new Uint8Array(0), totalBytes: 0 }
  return {
    status: 'sandbox-error',
    exitCode: null,
    signal: null,
    cpuMs: 0,
    wallMs: 0,
    starvedMs: null,
    memoryBytes: 0,
    stdout: nothing,
    stderr: nothing,
    kept: [],
    message,
  }
}
