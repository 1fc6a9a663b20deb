import type { InputPart, TurnEnd } from '@parley/agent'
import { readRollout, type RolloutRecords } from './read-rollout.ts'

/** Codex writes what it tells a moment later; longer than this is not waited for. */
const WRITTEN_MS = 2_000
const LOOK_MS = 20

/** A turn that is over, and where it was written down. */
export interface TurnRecord {
  readonly rolloutPath: string
  /** How long the file was when the turn began. */
  readonly from: number
  /** What the turn began with. */
  readonly own: readonly InputPart[]
  readonly end: TurnEnd
}

type Added = readonly (readonly InputPart[])[]

/**
 * Of what was handed to Codex while a turn ran, in this order, what the turn did not read. Some versions drop what comes during the last answer and tell nobody;
 * whatever was read, however, is in the file of the conversation.
 */
export async function unreadInput(turn: TurnRecord, added: Added): Promise<Added> {
  const deadline = performance.now() + WRITTEN_MS
  for (;;) {
    const records = await readRollout(turn.rolloutPath, turn.from)
    const unread = unreadAccordingTo(records, turn.own, added)
    if (unread.length === 0 || isWhole(records, turn.end) || performance.now() > deadline) return unread
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Codex reads in the order in which it got them, so that those it read come first. */
function unreadAccordingTo({ said }: RolloutRecords, own: readonly InputPart[], added: Added): Added {
  const rest = [...said]
  const beginning = rest.findIndex((texts) => isSame(texts, textsOf(own)))
  if (beginning !== -1) rest.splice(0, beginning + 1)
  let read = 0
  for (const texts of rest) if (isSame(texts, textsOf(added[read] ?? []))) read += 1
  return added.slice(read)
}

/** Whether nothing of the turn will be written any more. */
function isWhole({ answers, hasAborted }: RolloutRecords, end: TurnEnd): boolean {
  if (end.kind === 'completed') return answers.has(end.message)
  if (end.kind === 'interrupted') return hasAborted
  // A process that is gone writes nothing.
  return end.code === 'engine_lost'
}

const textsOf = (input: readonly InputPart[]): readonly string[] =>
  input.flatMap((part) => (part.type === 'text' ? [part.text] : []))

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length > 0 && one.length === other.length && one.every((text, index) => text === other[index])
