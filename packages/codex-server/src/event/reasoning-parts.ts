import type { EngineEvent } from '@parley/agent'

interface Thought {
  readonly parts: string[]
  raw: string
}

/** The parts of thoughts under way: the end of one tells each part by itself. */
export class ReasoningParts {
  readonly #thoughts = new Map<string, Thought>()
  readonly #told = new Set<string>()

  part(item: string, part: number): void {
    this.#at(item).parts[part] ??= ''
  }

  delta({ item, part, delta, raw }: Extract<EngineEvent, { type: 'reasoning_delta' }>): void {
    const thought = this.#at(item)
    if (raw) thought.raw += delta
    else thought.parts[part] = `${thought.parts[part] ?? ''}${delta}`
  }

  /** Another item begins, so this one is complete: an engine may say so only when the whole answer is. */
  next(item: string): string | undefined {
    for (const thought of this.#thoughts.keys()) if (thought !== item) return thought
    return undefined
  }

  /** `text` is all of it, where it did not come in pieces. `undefined`: it was told already. */
  finish(item: string, text: string): { readonly summary: readonly string[]; readonly raw: string } | undefined {
    if (this.#told.has(item)) return undefined
    this.#told.add(item)
    const thought = this.#thoughts.get(item)
    this.#thoughts.delete(item)
    const parts = thought?.parts.filter((part) => part !== '') ?? []
    if (parts.length > 1) return { summary: parts, raw: thought?.raw ?? '' }
    if (thought !== undefined && parts.length === 0 && thought.raw !== '') return { summary: [], raw: thought.raw }
    return { summary: text === '' ? parts : [text], raw: thought?.raw ?? '' }
  }

  clear(): void {
    this.#thoughts.clear()
    this.#told.clear()
  }

  #at(item: string): Thought {
    let thought = this.#thoughts.get(item)
    if (thought === undefined) this.#thoughts.set(item, (thought = { parts: [], raw: '' }))
    return thought
  }
}
