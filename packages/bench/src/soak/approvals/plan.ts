import type { ApprovalAnswer } from '@parley/protocol'
import { SeededRandom } from '../random.ts'

/** What one person says. */
export interface Words {
  readonly decision: Extract<ApprovalAnswer, 'approve' | 'deny_continue' | 'deny_abort'>
  /** The name under which the call is sent instead. */
  readonly edited?: string
}

/** What people do about one approval: one says something, two say different things at once, or nobody says anything. */
export interface Plan {
  readonly inMs: number
  readonly said: readonly Words[]
}

const SOON_MS = 300
const LATER_MS = 3_000
const LATER_PART = 0.3
const NOBODY_PART = 0.03
const BOTH_PART = 0.2
const WORDS = ['approve', 'approve', 'approve', 'approve', 'edit', 'edit', 'deny_continue', 'deny_abort'] as const
type Word = (typeof WORDS)[number]

/** The same seed and the same call make the same plan, whenever it is seen. */
export function planFor(seed: number, call: string): Plan {
  const random = new SeededRandom(seed ^ hashOf(call))
  const inMs = random.between(0, random.next() < LATER_PART ? LATER_MS : SOON_MS)
  const part = random.next()
  if (part < NOBODY_PART) return { inMs, said: [] }
  const first = random.pick(WORDS)
  const others = WORDS.filter((word) => word !== first)
  const both = part < NOBODY_PART + BOTH_PART ? [first, random.pick(others)] : [first]
  return { inMs, said: both.map((word, index) => wordsOf(word, `${call}~${index}`)) }
}

export const isYesPlan = ({ said }: Plan): boolean => said.some(({ decision }) => decision === 'approve')

function wordsOf(word: Word, edited: string): Words {
  return word === 'edit' ? { decision: 'approve', edited } : { decision: word }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
