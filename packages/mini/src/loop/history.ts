import type { ModelItem } from '../model/model.ts'
import { type CallItem, answersCall, callOf } from './item.ts'
import { weigh } from './weigh.ts'

/** One item of the conversation, with what a compaction must know about it. */
export interface Held {
  /** The line of the log that brought it. */
  readonly seq: number
  readonly item: ModelItem
  readonly pinned: boolean
  /** Items of one answer and the outputs of its calls are one group; what a person says is one by itself. */
  readonly group: string
  readonly weight: number
}

interface SeenCall {
  readonly call: CallItem
  readonly group: string
}

/** A call of the newest answer. `repeated`: it was answered before, and is not made again. */
export interface AdmittedCall {
  readonly call: CallItem
  readonly repeated: boolean
}

/** What the model reads at its next request, and which of its calls are still without an output. */
export class History {
  #held: Held[] = []
  /** The same, as the model reads it. */
  #items: ModelItem[] = []
  readonly #open = new Map<string, SeenCall>()
  /** Calls by the id that the provider gave them; as a rule there is one. */
  readonly #given = new Map<string, readonly CallItem[]>()
  #weight = 0

  get held(): readonly Held[] {
    return this.#held
  }
  get length(): number {
    return this.#held.length
  }
  /** Tokens of all items, estimated. */
  get weight(): number {
    return this.#weight
  }
  items(): ModelItem[] {
    return this.#items.slice()
  }
  /** Calls without an output; a request must not be made while there are any. */
  get open(): readonly CallItem[] {
    return Array.from(this.#open.values(), ({ call }) => call)
  }
  isOpen(call: string): boolean {
    return this.#open.has(call)
  }

  addInput(seq: number, item: ModelItem, pinned: boolean): void {
    this.#push({ seq, item, pinned, group: `input ${seq}`, weight: weigh(item) })
  }

  /** An item of the answer that is called `answer`. */
  addItem(seq: number, item: ModelItem, answer: number): void {
    const group = `answer ${answer}`
    const call = callOf(item)
    if (call !== undefined) {
      this.#open.set(call.id, { call, group })
      if (!this.#given.has(call.id)) this.#given.set(call.id, [call])
    }
    const answered = answersCall(item)
    if (answered !== undefined) this.#open.delete(answered)
    this.#push({ seq, item, pinned: false, group, weight: weigh(item) })
  }

  /** The one output of a call. */
  addOutput(seq: number, item: ModelItem): void {
    const call = answersCall(item) ?? ''
    const group = this.#open.get(call)?.group ?? `input ${seq}`
    this.#open.delete(call)
    this.#push({ seq, item, pinned: false, group, weight: weigh(item) })
  }

  /**
   * The items of an answer as they can be taken in. Providers match outputs to calls by id, so an id that was used before
   * gets another name; a call that is the same in everything is one that was answered already.
   */
  admit(items: readonly ModelItem[], answer: number): { items: ModelItem[]; looseEnd: ModelItem[]; calls: AdmittedCall[] } {
    const calls: AdmittedCall[] = []
    const answeredHere = new Set(items.map(answersCall))
    const admitted = items.map((item, index) => {
      const call = callOf(item)
      if (call === undefined) return item
      const earlier = this.#given.get(call.id) ?? []
      this.#given.set(call.id, [...earlier, call])
      if (call.id !== '' && earlier.length === 0) {
        if (!answeredHere.has(call.id)) calls.push({ call, repeated: false })
        return item
      }
      const id = `${call.id === '' ? 'call' : call.id}_${answer}_${index}`
      const repeated = call.id !== '' && earlier.some((one) => isSame(one, call))
      calls.push({ call: { ...call, id }, repeated })
      return withoutId({ ...item, call_id: id })
    })
    const kept = withoutLooseEnd(admitted)
    return { items: kept, looseEnd: admitted.slice(kept.length), calls }
  }

  /** Puts a summary where the last of the replaced items stood. */
  replace(isReplaced: (held: Held) => boolean, seq: number, summary: ModelItem): void {
    const last = this.#held.findLastIndex(isReplaced)
    const kept: Held[] = []
    for (const [index, held] of this.#held.entries()) {
      if (!isReplaced(held)) kept.push(held)
      else this.#given.delete(callOf(held.item)?.id ?? '')
      if (index === last) kept.push({ seq, item: summary, pinned: false, group: `summary ${seq}`, weight: weigh(summary) })
    }
    this.#reset(kept)
  }

  /** Another model cannot read what the earlier one thought. Ids go too: by them a provider looks for the thoughts. */
  dropReasoning(): void {
    const kept = this.#held.filter(({ item }) => item.type !== 'reasoning')
    this.#reset(kept.map((held) => ({ ...held, item: withoutId(held.item) })))
  }

  #push(held: Held): void {
    this.#held.push(held)
    this.#items.push(held.item)
    this.#weight += held.weight
  }
  #reset(held: Held[]): void {
    this.#held = held
    this.#items = held.map(({ item }) => item)
    this.#weight = held.reduce((sum, { weight }) => sum + weight, 0)
  }
}

const isSame = (one: CallItem, other: CallItem): boolean => one.name === other.name && one.text === other.text

/** An item that was changed loses its id: a provider compares it with what it gave under that id. */
export const withoutId = ({ id: _, ...item }: ModelItem): ModelItem => item

/** Providers refuse reasoning that no other item follows, so it is taken off the end. */
function withoutLooseEnd(items: ModelItem[]): ModelItem[] {
  return items.slice(0, items.findLastIndex(({ type }) => type !== 'reasoning') + 1)
}
