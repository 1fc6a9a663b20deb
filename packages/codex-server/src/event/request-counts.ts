import type { EngineEvent, TurnEnd } from '@parley/agent'
import type { EventMessage } from '@parley/codex/port'
import type { Counted, Words } from './words.ts'

/** Failures of an answer that had begun, and of which nothing could be told. */
const CUT_ANSWERS: ReadonlySet<string> = new Set(['model_unavailable', 'model_malformed'])

/**
 * When tokens are counted. Codex counts after everything that an answer of the model led to; an engine may count as soon
 * as it has the answer, and make its calls afterwards. So a count waits until the next answer begins or the turn ends,
 * unless something of its own answer came before it already.
 */
export class RequestCounts {
  readonly #words: Words
  readonly #items = new Set<string>()
  #counted: Counted | null = null
  #isOpen = false
  #hasHappened = false
  #isWaiting = false
  /** The call of the model that has answered, until that is told. */
  #answer: string | undefined
  #actsWhileWaiting = false
  /** All that the turn changed so far: told again after every answer. */
  diff: string | undefined

  constructor(words: Words) {
    this.#words = words
  }

  begin(): void {
    this.#reset()
    this.diff = undefined
  }

  /** A piece of an item comes: of a new answer, unless the item is known. */
  item(item: string, out: EventMessage[]): void {
    if (this.#items.has(item)) return
    if (this.#isWaiting) this.#close(out)
    this.#open(out)
    this.#items.add(item)
  }

  /** An item comes whole: it may be of the answer that was counted just now. */
  wholeItem(item: string, out: EventMessage[]): void {
    if (this.#items.has(item)) return
    if (this.#isWaiting && this.#actsWhileWaiting) this.#close(out)
    if (!this.#isWaiting) this.#open(out)
    this.#items.add(item)
  }

  finishItem(): void {
    this.#hasHappened = true
  }

  act(out: EventMessage[]): void {
    if (this.#isWaiting) {
      this.#tellAnswered(out)
      this.#actsWhileWaiting = true
    } else {
      this.#open(out)
      this.#hasHappened = true
    }
  }

  usage({ call, last, total }: Extract<EngineEvent, { type: 'usage' }>, out: EventMessage[]): void {
    // A request that was refused has used nothing, and Codex does not speak of it.
    if (last.input_tokens === 0 && last.output_tokens === 0) return
    if (this.#isWaiting) this.#close(out)
    this.#open(out)
    this.#counted = { last, total }
    this.#answer = call
    if (this.#hasHappened) this.#close(out)
    else this.#isWaiting = true
  }

  end(end: TurnEnd, out: EventMessage[]): void {
    if (end.kind === 'completed') {
      if (this.#isWaiting) this.#close(out)
      return
    }
    const isCut = end.kind === 'failed' && CUT_ANSWERS.has(end.code) && !this.#isOpen
    if (isCut || (this.#words.countsAtBreak && this.#isOpen)) this.#words.counted(this.#counted, out)
  }

  #open(out: EventMessage[]): void {
    if (this.#isOpen) return
    this.#isOpen = true
    if (this.#words.countsAtStart) this.#words.counted(this.#counted, out)
  }

  /** After what the answer itself said, before what came of it. */
  #tellAnswered(out: EventMessage[]): void {
    if (this.#answer !== undefined && this.#counted !== null) this.#words.answered(this.#answer, this.#counted, out)
    this.#answer = undefined
  }

  #close(out: EventMessage[]): void {
    this.#tellAnswered(out)
    this.#words.counted(this.#counted, out)
    if (this.diff !== undefined) out.push({ type: 'turn_diff', unified_diff: this.diff })
    this.#reset()
  }

  #reset(): void {
    this.#isOpen = false
    this.#hasHappened = false
    this.#isWaiting = false
    this.#answer = undefined
    this.#actsWhileWaiting = false
    this.#items.clear()
  }
}
