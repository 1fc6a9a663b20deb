import type { AgentStatusItem } from '@parley/protocol'
import { plainText } from '../text/plain-text.ts'

/** A step of the job: what the judge or the agent says that it does. */
export interface StatusStep {
  readonly kind: 'step'
  readonly id: number
  readonly item: AgentStatusItem
}

/** Something that an agent wrote piece by piece: a message, a thought, what a command printed. */
export interface Writing {
  readonly kind: 'writing'
  readonly id: number
  readonly of: 'message' | 'reasoning' | 'output' | 'other'
  /** When it began. */
  readonly item: AgentStatusItem
  readonly text: string
  /** It went on for longer than is kept. */
  readonly isCut: boolean
}

export type Entry = StatusStep | Writing

/** What is different since the last look. */
export interface Changes {
  readonly changed: readonly Entry[]
  readonly removed: readonly number[]
}

export const TIMELINE_LIMITS = {
  entries: 5_000,
  /** Characters of all writings together, and of one. */
  chars: 4 * 1024 * 1024,
  writingChars: 256 * 1024,
  /** Writings that may still go on. */
  open: 64,
} as const

const KINDS: Readonly<Record<string, Writing['of']>> = {
  agent_message_delta: 'message',
  reasoning_summary_delta: 'reasoning',
  command_output_delta: 'output',
}
const BOUNDARY = 'reasoning_summary_boundary'

/** Puts the status lines of a job together into what a person reads. Keeps the last of it, within bounds. */
export class TimelineModel {
  readonly #entries = new Map<number, Entry>()
  /** Writings by what they are pieces of. */
  readonly #open = new Map<string, number>()
  readonly #changed = new Set<number>()
  #removed: number[] = []
  #chars = 0
  #lastId = 0
  #dropped = 0

  /** How many entries were let go of. */
  get dropped(): number {
    return this.#dropped
  }

  push(item: AgentStatusItem): void {
    if (item.kind === BOUNDARY) return
    if (item.kind !== undefined && item.delta !== undefined) this.#write(item, item.kind, plainText(item.delta))
    else this.#step(item)
    this.#trim()
  }

  takeChanges(): Changes {
    const changed = [...this.#changed].flatMap((id) => this.#entries.get(id) ?? [])
    const removed = this.#removed
    this.#changed.clear()
    this.#removed = []
    return { changed, removed }
  }

  #step(item: AgentStatusItem): void {
    // Whoever comes next says something new, unless it says what it is a part of.
    for (const key of this.#open.keys()) if (key.endsWith(' ')) this.#open.delete(key)
    // Another judge tells its own story, even where its words are the same.
    if (typeof item.meta['claim'] === 'number') this.#open.clear()
    const last = this.#entries.get(this.#lastId)
    const isProgress = last?.kind === 'step' && isSameCount(last.item, item)
    if (!isProgress) this.#lastId += 1
    this.#put({ kind: 'step', id: this.#lastId, item })
  }

  #write(item: AgentStatusItem, kind: string, delta: string): void {
    const key = keyOf(item, kind)
    const known = this.#entries.get(this.#open.get(key) ?? 0)
    const before = known?.kind === 'writing' ? known : undefined
    if (before === undefined) {
      this.#lastId += 1
      this.#open.set(key, this.#lastId)
      const [oldest] = this.#open.keys()
      if (this.#open.size > TIMELINE_LIMITS.open && oldest !== undefined) this.#open.delete(oldest)
    }
    const room = Math.max(0, TIMELINE_LIMITS.writingChars - (before?.text.length ?? 0))
    const added = delta.slice(0, room)
    this.#chars += added.length
    this.#put({
      kind: 'writing',
      id: before?.id ?? this.#lastId,
      of: KINDS[kind] ?? 'other',
      item: before?.item ?? item,
      text: (before?.text ?? '') + added,
      isCut: before?.isCut === true || added.length < delta.length,
    })
  }

  #put(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    this.#changed.add(entry.id)
  }

  #trim(): void {
    for (const [id, entry] of this.#entries) {
      if (this.#entries.size <= TIMELINE_LIMITS.entries && this.#chars <= TIMELINE_LIMITS.chars) return
      this.#entries.delete(id)
      this.#changed.delete(id)
      this.#removed.push(id)
      this.#dropped += 1
      if (entry.kind === 'writing') this.#chars -= entry.text.length
    }
  }
}

/** What a piece is a piece of. One that does not say goes on until the next step. */
function keyOf({ attempt, meta }: AgentStatusItem, kind: string): string {
  const { item, call, summary_index } = meta
  const of = [item, call].find((name) => typeof name === 'string' && name !== '')
  if (typeof of !== 'string') return `${attempt} ${kind} `
  return `${attempt} ${kind} ${of}${typeof summary_index === 'number' ? `.${summary_index}` : '.'}`
}

/** Lines that only count on take the place of the one before. */
function isSameCount(one: AgentStatusItem, other: AgentStatusItem): boolean {
  return (
    typeof one.meta['done'] === 'number' &&
    typeof other.meta['done'] === 'number' &&
    one.attempt === other.attempt &&
    one.meta['total'] === other.meta['total']
  )
}
