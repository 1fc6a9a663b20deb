import type { StatusLine } from '../../tester.ts'
import type { Loss, LossReason } from './left-logs.ts'

const REASONS: Readonly<Record<LossReason, string>> = {
  doubtful: 'nobody can know whether it arrived',
  damaged: 'damaged or half written',
  full: 'the log is full',
  dropped: 'it could not be kept for so long',
}

/** As many as fit into one line beside its other words. */
const LOSSES_TOLD = 64

/** One line for all that earlier claims said on this machine and that is not sent any more. */
export function lossLine(losses: readonly Loss[]): StatusLine {
  const words = losses.map(
    ({ claim, log, reason, bytes, lines }) => `${log} of claim ${claim}, ${lines} lines (${bytes} bytes): ${REASONS[reason]}`,
  )
  return {
    stage: 'analysis',
    level: 'warn',
    summary: `not sent of what a judge said here before: ${words.join('; ')}`,
    meta: { lost: losses.slice(0, LOSSES_TOLD) },
  }
}
