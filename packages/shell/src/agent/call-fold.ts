import { CallLine, parseJson } from '@parley/protocol'
import type { LoggedLine } from './read-lines.ts'

type Line<Step extends CallLine['step']> = Extract<CallLine, { readonly step: Step }>

/** One call, put together of its lines. */
export interface LoggedCall {
  readonly decided: Line<'decided'>
  /** Where the line ends that says what was decided. */
  readonly nextOffset: number
  /** `undefined`: nothing was written of it yet. */
  readonly end: Line<'dispatched' | 'returned' | 'failed'> | undefined
}

/** Calls whose end is waited for; of more, the oldest is told as it is. */
const OPEN_MAX = 1_000

/** Lines go in, calls come out: a denied one at once, others when they have ended. Where it began in the middle, an end without its call is passed over. */
export class CallFold {
  readonly #open = new Map<number | string, LoggedCall>()

  take({ text, nextOffset }: LoggedLine): readonly LoggedCall[] {
    const { data: line } = CallLine.safeParse(parseJson(text))
    if (line === undefined) return []
    const call = this.#open.get(line.id)
    if (line.step === 'decided') {
      const decided = { decided: line, nextOffset, end: undefined }
      // Its name is free again: the host that wrote of the one before is gone, and so is whoever knew how that ended.
      this.#open.delete(line.id)
      const before = call === undefined ? [] : [call]
      if (line.decision.kind === 'deny') return [...before, decided]
      this.#open.set(line.id, decided)
      return [...before, ...this.#beyond()]
    }
    if (call === undefined) return []
    if (line.step === 'dispatched') {
      this.#open.set(line.id, { ...call, end: line })
      return []
    }
    this.#open.delete(line.id)
    return [{ ...call, end: line }]
  }

  /** Those of which no end was written so far, the oldest first. */
  open(): readonly LoggedCall[] {
    return [...this.#open.values()]
  }

  #beyond(): readonly LoggedCall[] {
    const [oldest] = this.#open
    if (this.#open.size <= OPEN_MAX || oldest === undefined) return []
    this.#open.delete(oldest[0])
    return [oldest[1]]
  }
}
