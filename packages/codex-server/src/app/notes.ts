/** Kinds of notes that are remembered so as not to be repeated. */
const KINDS_MAX = 1_000

/** Lines for people, each kind once. */
export class Notes {
  readonly #write: (line: string) => void
  readonly #said = new Set<string>()

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  say(line: string): void {
    this.#write(line)
  }

  /** Says it unless something of this kind was said before. */
  once(kind: string, line: string): void {
    if (this.#said.has(kind) || this.#said.size >= KINDS_MAX) return
    this.#said.add(kind)
    this.#write(line)
  }
}
