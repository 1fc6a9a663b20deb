import { RecentMap } from '@parley/protocol'
import type { AuditLine } from './recorder.ts'

/** Lines of one actor in a burst, and how many a second come on top: enough for people and programs that work. */
const BURST_LINES = 1_000
const LINES_PER_SECOND = 1
const ACTORS_MAX = 10_000
/** What is counted apart between two tellings; the rest is counted together. */
const COUNTED_MAX = 200

/**
 * Keeps one actor from filling the disk with reads: beyond a share, lines that differ in nothing but their time and target are
 * counted instead, and told as one line each with the number as its target. Changes never come here.
 */
export class Fold {
  readonly #left = new RecentMap<string, { lines: number; at: number }>(ACTORS_MAX)
  #counted = new Map<string, { readonly line: AuditLine; count: number }>()

  /** Whether the line is written as it is; else it is counted. */
  takes(line: AuditLine): boolean {
    // Strangers share one: an address is easily had.
    const actor = line.role === 'none' ? 'none' : `${line.role} ${line.actor}`
    const before = this.#left.get(actor) ?? { lines: BURST_LINES, at: line.at }
    const gained = (Math.max(0, line.at - before.at) / 1_000) * LINES_PER_SECOND
    const lines = Math.min(BURST_LINES, before.lines + gained)
    const isTaken = lines >= 1
    this.#left.set(actor, { lines: isTaken ? lines - 1 : lines, at: Math.max(line.at, before.at) })
    if (!isTaken) this.#count(line)
    return isTaken
  }

  /** What was counted since, as lines. */
  told(at: number): readonly AuditLine[] {
    const lines = [...this.#counted.values()].map(({ line, count }) => ({ ...line, at, target: `${count} times more` }))
    this.#counted = new Map()
    return lines
  }

  #count({ actor, role, action, outcome, code, remote, at }: AuditLine): void {
    const line = { at, actor, role, action, target: null, outcome, code, remote }
    const key = JSON.stringify([actor, role, action, outcome, code, remote])
    const there = this.#counted.get(key)
    if (there !== undefined) there.count += 1
    else if (this.#counted.size < COUNTED_MAX) this.#counted.set(key, { line, count: 1 })
    else this.#countRest({ ...line, actor: 'several', role: 'none', action: 'several', code: 'folded', remote: null })
  }

  #countRest(line: AuditLine): void {
    const there = this.#counted.get('')
    if (there === undefined) this.#counted.set('', { line, count: 1 })
    else there.count += 1
  }
}
