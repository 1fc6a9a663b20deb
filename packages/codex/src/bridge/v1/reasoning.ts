import type { EngineEvent } from '@parley/agent'

type Kind = 'summary' | 'raw'

/** Thoughts come without ids, in parts; what was thought is told whole when the parts are over. */
export class Reasoning {
  readonly #emit: (event: EngineEvent) => void
  readonly #makeItem: () => string
  readonly #texts: Record<Kind, string[]> = { summary: [], raw: [] }
  #item: string | undefined
  #part = -1

  constructor(emit: (event: EngineEvent) => void, makeItem: () => string) {
    this.#emit = emit
    this.#makeItem = makeItem
  }

  part(): void {
    this.#part += 1
    this.#emit({ type: 'reasoning_part', item: this.#current(), part: this.#part })
  }

  delta(delta: string, kind: Kind): void {
    const part = kind === 'raw' ? 0 : Math.max(this.#part, 0)
    this.#emit({ type: 'reasoning_delta', item: this.#current(), part, delta, raw: kind === 'raw' })
  }

  whole(text: string, kind: Kind): void {
    this.#current()
    this.#texts[kind].push(text)
  }

  /** Whatever else comes, comes after the thought. */
  flush(): void {
    const { summary, raw } = this.#texts
    if (summary.length === 0 && raw.length === 0) return
    const text = (summary.length > 0 ? summary : raw).join('\n\n')
    this.#emit({ type: 'reasoning', item: this.#current(), text })
    this.forget()
  }

  forget(): void {
    this.#texts.summary = []
    this.#texts.raw = []
    this.#item = undefined
    this.#part = -1
  }

  #current(): string {
    this.#item ??= this.#makeItem()
    return this.#item
  }
}
