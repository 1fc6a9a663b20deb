import { RecentMap } from '@parley/protocol'
import type { AuditLine } from './recorder.ts'

/** Lines of one actor in a burst, and how many a second come on top: enough for people and programs that work. */
const BURST_LINES = 1_000
const LINES_PER_SECOND = 1
const ACTORS_MAX = 10_000
/** What is counted apart between two tellings; the rest is counted together. */
const COUNTED_MAX = 200
/** How often an actor that goes on is marked as one that is there. */
const MARKED_MS = 1_000

/** How many lines an actor has left, when that was so, and when the actor was last marked. */
interface Share {
  lines: number
  at: number
  markedAt: number
}

interface Counted {
  readonly line: AuditLine
  count: number
}

/**
 * Keeps one actor from filling the disk with reads: beyond a share, lines that differ in nothing but their time and target are
 * counted instead, and told as one line each with the number as its target. Changes never come here.
 */
export class Fold {
  readonly #left = new RecentMap<string, Share>(ACTORS_MAX)
  #counted = new Map<string, Counted>()
  /** What was counted last: most lines are like the one before. */
  #last: Counted | undefined

  /** Whether the line is written as it is; else it is counted. */
  takes(line: AuditLine): boolean {
    // Strangers share one: an address is easily had.
    const actor = line.role === 'none' ? 'none' : `${line.role} ${line.actor}`
    const share = this.#shareOf(actor, line.at)
    const gained = (Math.max(0, line.at - share.at) / 1_000) * LINES_PER_SECOND
    const lines = Math.min(BURST_LINES, share.lines + gained)
    const isTaken = lines >= 1
    share.lines = isTaken ? lines - 1 : lines
    share.at = Math.max(line.at, share.at)
    if (!isTaken) this.#count(line)
    return isTaken
  }

  /** What was counted since, as lines. */
  told(at: number): readonly AuditLine[] {
    const lines = [...this.#counted.values()].map(({ line, count }) => ({ ...line, at, target: `${count} times more` }))
    this.#counted = new Map()
    this.#last = undefined
    return lines
  }

  /** Whoever is not marked for long makes room for others, so that is done now and then: each time would cost more than all else here. */
  #shareOf(actor: string, at: number): Share {
    const known = this.#left.peek(actor)
    if (known === undefined) {
      const share = { lines: BURST_LINES, at, markedAt: at }
      this.#left.set(actor, share)
      return share
    }
    if (Math.abs(at - known.markedAt) >= MARKED_MS) {
      known.markedAt = at
      this.#left.get(actor)
    }
    return known
  }

  #count(told: AuditLine): void {
    if (this.#last !== undefined && isAlike(this.#last.line, told)) {
      this.#last.count += 1
      return
    }
    const { actor, role, action, outcome, code, remote, at } = told
    const line = { at, actor, role, action, target: null, outcome, code, remote }
    const key = JSON.stringify([actor, role, action, outcome, code, remote])
    const there = this.#counted.get(key)
    if (there !== undefined) {
      there.count += 1
      this.#last = there
    } else if (this.#counted.size < COUNTED_MAX) this.#counted.set(key, { line, count: 1 })
    else this.#countRest({ ...line, actor: 'several', role: 'none', action: 'several', code: 'folded', remote: null })
  }

  #countRest(line: AuditLine): void {
    const there = this.#counted.get('')
    if (there === undefined) this.#counted.set('', { line, count: 1 })
    else there.count += 1
  }
}

const isAlike = (one: AuditLine, other: AuditLine): boolean =>
  one.actor === other.actor &&
  one.role === other.role &&
  one.action === other.action &&
  one.outcome === other.outcome &&
  one.code === other.code &&
  one.remote === other.remote
