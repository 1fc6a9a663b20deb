import { constants } from 'node:os'

/** What a shell adds to the number of the signal that ended a program. */
const BY_SIGNAL = 128
const SIGKILL = 9

const NUMBERS: ReadonlyMap<string, number> = new Map(Object.entries(constants.signals))

/** One number for how a process ended: its exit code, or 128 and the signal, as shells say it. */
export function exitCodeOf({ code, signal }: { readonly code: number | null; readonly signal: string | null }): number {
  return code ?? BY_SIGNAL + (NUMBERS.get(signal ?? '') ?? SIGKILL)
}

/** The same number in words. A shell ends with such a number too when a signal ended what it ran. */
export function endedBy(exitCode: number): string {
  const signal = Object.entries(constants.signals).find(([, number]) => number === exitCode - BY_SIGNAL)?.[0]
  return `exit code ${exitCode}${signal === undefined ? '' : `, as after ${signal}`}`
}
