import type { Waiting, WaitingCode } from '@parley/protocol'
import { plainText } from '@parley/screen'

const ADVICE: Readonly<Record<WaitingCode, string | undefined>> = {
  no_judge: 'parley judge starts one on any machine',
  no_language: 'install it where a judge runs and start that anew, or start one that has it with parley judge',
  no_engine: 'start a judge that has it with parley judge --engine',
  draining: 'parley judge drain NAME --undo lets one take jobs again',
  // They will be done.
  busy: undefined,
}

/** Why a job waits, and what can be done about it. */
export function waitingText(waiting: Waiting): string {
  const advice = ADVICE[waiting.code]
  return `waits: ${plainText(waiting.message)}${advice === undefined ? '' : `; ${advice}`}`
}

const SHORT: Readonly<Record<WaitingCode, string>> = {
  no_judge: 'no judge',
  no_language: 'no judge has it',
  no_engine: 'no engine',
  draining: 'judges drain',
  busy: 'judges at work',
}

/** A status with the reason in a few words, for a cell of a table. */
export const statusWithReason = (status: string, waiting: Waiting | null): string =>
  waiting === null ? status : `${status} (${SHORT[waiting.code]})`
