import { NO_TOKENS, addTokens } from '@parley/protocol'
import type { TranscriptEntry, Used } from '@parley/agent'
import { History, withoutId } from '../history.ts'
import { answersCall, callOf } from '../item.ts'
import { ENTRY_TYPES, MiniEntry } from './entry.ts'
import { TranscriptDamaged } from './errors.ts'

/** Where a conversation stands. */
export interface Standing {
  readonly history: History
  readonly seq: number
  readonly turns: number
  readonly answers: number
  readonly used: Used
  readonly model: string
  readonly instructionsSha256: string
  /** Open calls that were never sent. */
  readonly unsent: ReadonlySet<string>
  /** The tools that the log holds already. */
  readonly toolsSha256: ReadonlySet<string>
}

/** Reads a log from its start. `undefined`: it has not even begun. */
export function foldTranscript(id: string, entries: readonly TranscriptEntry[]): Standing | undefined {
  const fold = new Fold()
  for (const entry of entries) {
    if (!ENTRY_TYPES.has(entry.type)) continue
    const parsed = MiniEntry.safeParse(entry)
    if (!parsed.success) throw new TranscriptDamaged(id, `an entry of type ${entry.type} cannot be read`, { cause: parsed.error })
    fold.take(parsed.data)
  }
  return fold.standing()
}

class Fold {
  readonly #history = new History()
  readonly #booked = new Set<string>()
  readonly #tools = new Set<string>()
  readonly #unsent = new Set<string>()
  /** Whether a line is written before a call is sent. */
  #keepsApprovals = false
  #opened: { model: string; instructionsSha256: string } | undefined
  #seq = 0
  #turns = 0
  #answers = 0
  #requests = 0
  #usage = NO_TOKENS
  #microusd = 0
  #wallMs = 0
  /** When the turn under way began, and the last that is known of it. */
  #turn: { startedAt: number; lastAt: number } | undefined

  standing(): Standing | undefined {
    if (this.#opened === undefined) return undefined
    this.#endTurn()
    const used = { requests: this.#requests, usage: this.#usage, microusd: this.#microusd, wallMs: this.#wallMs }
    const { model, instructionsSha256 } = this.#opened
    return {
      history: this.#history,
      seq: this.#seq,
      turns: this.#turns,
      answers: this.#answers,
      used,
      model,
      instructionsSha256,
      unsent: this.#unsent,
      toolsSha256: this.#tools,
    }
  }

  take(entry: MiniEntry): void {
    this.#seq = Math.max(this.#seq, entry.seq)
    switch (entry.type) {
      case 'opened':
        this.#open(entry)
        break
      case 'resumed':
        this.#endTurn()
        if (this.#opened !== undefined && this.#opened.model !== entry.model) this.#history.dropReasoning()
        this.#open(entry)
        break
      case 'turn':
        this.#turns = Math.max(this.#turns, entry.number)
        this.#turn = { startedAt: Date.parse(entry.at), lastAt: Date.parse(entry.at) }
        break
      case 'input':
        this.#history.addInput(entry.seq, entry.item, entry.pinned)
        break
      case 'tools':
        this.#tools.add(entry.sha256)
        break
      case 'request':
        this.#requests += 1
        if (this.#turn !== undefined) this.#turn.lastAt = Date.parse(entry.at)
        break
      case 'usage':
        this.#book(entry)
        break
      case 'item':
        this.#answers = Math.max(this.#answers, entry.group)
        this.#history.addItem(entry.seq, entry.masked === true ? withoutId(entry.item) : entry.item, entry.group)
        this.#noteUnsent(entry)
        break
      case 'dispatched':
        this.#unsent.delete(entry.call)
        break
      case 'output':
        this.#history.addOutput(entry.seq, entry.item)
        this.#unsent.delete(answersCall(entry.item) ?? '')
        break
      case 'compacted': {
        const replaced = new Set(entry.replaced)
        this.#history.replace(({ seq }) => replaced.has(seq), entry.seq, entry.summary)
        break
      }
      case 'turn_ended':
        this.#turn = undefined
        this.#wallMs += entry.wall_ms
        break
      case 'exchange':
      case 'unkept':
      case 'decision':
      case 'warning':
        break
    }
  }

  #open({ model, instructions_sha256: instructionsSha256, options }: Extract<MiniEntry, { type: 'opened' | 'resumed' }>): void {
    this.#opened = { model, instructionsSha256 }
    this.#keepsApprovals = options['keeps_approvals'] === true
  }

  #noteUnsent({ item, repeated, masked }: Extract<MiniEntry, { type: 'item' }>): void {
    const call = callOf(item)?.id
    const isWhole = this.#keepsApprovals && repeated !== true && masked !== true
    if (call !== undefined && isWhole && this.#history.isOpen(call)) this.#unsent.add(call)
    // A hosted tool answers itself.
    this.#unsent.delete(answersCall(item) ?? '')
  }

  #book({ call, usage, microusd }: Extract<MiniEntry, { type: 'usage' }>): void {
    if (this.#booked.has(call)) return
    this.#booked.add(call)
    this.#usage = addTokens(this.#usage, usage)
    this.#microusd += microusd ?? 0
  }

  /** A turn that its process did not live to end has used the time up to its last request. */
  #endTurn(): void {
    if (this.#turn !== undefined) this.#wallMs += Math.max(0, this.#turn.lastAt - this.#turn.startedAt)
    this.#turn = undefined
  }
}
