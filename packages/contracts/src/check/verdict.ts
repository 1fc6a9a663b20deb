import type { ContractName } from '../registry/registry-types.ts'

/** How one half of a method compares with the recordings. `-`: there is no such half, or it was not seen. */
export type Half = 'ok' | 'drift' | '-'

/** One row of the check. */
export interface MethodVerdict {
  readonly method: string
  /** Whether the server has it, as far as was seen; null where nothing was. */
  readonly present: boolean | null
  readonly request: Half
  readonly response: Half
  /**
   * `untested`: nothing of it was seen, and nothing says that it should have been. `unsupported`: the server says by
   * itself that it cannot do this, which is a difference that its client hears of.
   */
  readonly verdict: 'ok' | 'drift' | 'untested' | 'unsupported'
  readonly note: string
}

/** Notes on one method beyond this many say nothing new. */
const NOTES_MAX = 3

/** What was seen of one method so far. */
export class Tally {
  readonly #name: ContractName
  readonly #faults = new Set<string>()
  readonly #lacks = new Set<string>()
  readonly #half: { request: Half; response: Half } = { request: '-', response: '-' }
  present: boolean | null = null
  seen = 0

  constructor(name: ContractName) {
    this.#name = name
  }

  fine(half: 'request' | 'response'): void {
    this.seen += 1
    if (this.#half[half] === '-') this.#half[half] = 'ok'
  }

  fault(half: 'request' | 'response', note: string): void {
    this.seen += 1
    this.#half[half] = 'drift'
    this.#faults.add(note)
  }

  /** The server cannot do it, or something that this comes from, and says so. */
  lacking(note: string): void {
    this.seen += 1
    this.#lacks.add(note)
  }

  /** The row; `rest` says what it means that nothing was seen. */
  verdict(rest: { readonly verdict: 'ok' | 'drift' | 'untested'; readonly note: string }): MethodVerdict {
    const method = this.#name === 'codex-event' ? 'codex/event' : this.#name
    const isLacking = this.#faults.size === 0 && this.#lacks.size > 0
    const faults = [...(isLacking ? this.#lacks : this.#faults)]
    const more = faults.length > NOTES_MAX ? ` (and ${faults.length - NOTES_MAX} more)` : ''
    const isSilent = this.seen === 0
    return {
      method,
      present: this.present,
      ...this.#half,
      verdict: isSilent ? rest.verdict : isLacking ? 'unsupported' : faults.length > 0 ? 'drift' : 'ok',
      note: isSilent ? rest.note : `${faults.slice(0, NOTES_MAX).join('; ')}${more}`,
    }
  }
}
