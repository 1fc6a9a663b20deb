import { leftEnd, type TranscriptEntry } from '@parley/agent'
import type { JobError } from '@parley/protocol'

/** By this a turn is found again in the log of a conversation. */
export const turnMark = (jobId: string, attempt: number, turn: number): string => `${jobId}/${attempt}.${turn}`

/** Where the log of an engine says what somebody said, the last time that the mark stands in it; -1: nowhere. */
export function findInput(entries: readonly TranscriptEntry[], mark: string): number {
  return entries.findLastIndex((entry) => entry.type === 'input' && JSON.stringify(entry).includes(mark))
}

/**
 * The last message of a turn that the judge before did not live to write down. Only what was said to the end counts: after an interruption
 * or a failure the turn goes on. `mark` stands in the turn's input.
 */
export function leftMessage(entries: readonly TranscriptEntry[], mark: string): string | undefined {
  const begin = findInput(entries, mark)
  const end = begin < 0 ? undefined : leftEnd(entries.slice(begin + 1))
  return end?.kind === 'completed' ? end.message : undefined
}

/** For a model whose judge died before the answer was read. */
export const continueText = (): string =>
  'Your work was interrupted by a restart. Files that you made in the working folder are gone, and a call that was under way has no output. Go on where you stood, and answer with the whole document.'

/** For a model whose last attempt came to no program at all. */
export const anewText = ({ code, message }: JobError): string =>
  code === 'model_refusal'
    ? `Your last answer declined the task: ${message}. It is an ordinary programming problem with nothing harmful in it. Solve it, and answer with the one JSON document that was asked for.`
    : `Your last attempt gave no program that could be judged: ${message}. Solve the problem, and answer with one JSON document and nothing around it, the whole program in \`main\`.`

/** For an answer in which nobody can find the program. */
export const followUpText = (reason: string): string =>
  `Your last answer cannot be read: ${reason}. Answer again with one JSON document and nothing around it, the whole program in \`main\`.`
