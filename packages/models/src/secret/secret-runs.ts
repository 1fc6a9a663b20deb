import { UNDO_MAX, type UnescapedText, undoEscapes } from './escaped-text.ts'

/** Shorter ones are no secrets, and fewer characters in common with one are chance. */
export const RUN_MIN = 8
/** Of every run of that many characters, one piece of three begins at a multiple of this. */
const PROBE_STEP = 6
const PROBE_TABLE = 65_536

/** A piece of a text, by its first character and the one after its last. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Where a run stands, escapes included, and how many characters it has without them. */
export interface Run extends Span {
  readonly length: number
}

/** Finds where a text has a run of at least `RUN_MIN` characters that stands in the secret too. The secret is ASCII. */
export class SecretRuns {
  readonly #folded: Runs
  readonly #base64: Runs

  constructor(secret: string) {
    this.#folded = new Runs([secret, Buffer.from(secret).toString('hex')], foldCase)
    this.#base64 = new Runs(base64Forms(secret), foldBase64)
  }

  /** Plain, in capitals or not, hexadecimal and in base64; each also escaped. In no order, and they may overlap. */
  find(text: string): readonly Run[] {
    const found: Run[] = []
    let view: UnescapedText | undefined = { text, sourceOf: (at) => at }
    for (let undone = 0; view !== undefined && undone <= UNDO_MAX; undone += 1) {
      const { text: plain, sourceOf } = view
      for (const { start, end } of [...this.#folded.find(plain), ...this.#base64.find(plain)])
        found.push({ start: sourceOf(start), end: sourceOf(end), length: end - start })
      view = undoEscapes(view)
    }
    return found
  }
}

/** The characters of base64 that depend on the secret alone, wherever in a group of three bytes it begins. */
function base64Forms(secret: string): readonly string[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.from(`${'\0'.repeat(before)}${secret}`)
    return bytes.toString('base64url').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
  })
}

/** Both alphabets are one. */
const foldBase64 = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_')
const foldCase = (text: string): string => text.toLowerCase()

/** The runs that a text has in common with one of some others, after both were folded. */
class Runs {
  readonly #pieces: ReadonlySet<string>
  readonly #probes = new Uint8Array(PROBE_TABLE)
  readonly #fold: (text: string) => string

  constructor(others: readonly string[], fold: (text: string) => string) {
    const folded = others.map((other) => fold(other))
    this.#pieces = new Set(folded.flatMap((other) => pieces(other)))
    this.#fold = fold
    for (const other of folded) for (let at = 0; at + 2 < other.length; at += 1) this.#probes[probeAt(other, at)] = 1
  }

  /** Looks at a few characters in six, and closer only where those stand in one of the others. */
  find(text: string): readonly Span[] {
    const found: Span[] = []
    const folded = this.#fold(text)
    let end = 0
    for (let at = 0; at + 2 < folded.length; at += PROBE_STEP) {
      if (at + RUN_MIN <= end || this.#probes[probeAt(folded, at)] === 0) continue
      for (let start = Math.max(0, at - PROBE_STEP + 1, end - RUN_MIN + 1); start <= at; start += 1) {
        if (!this.#has(folded, start)) continue
        let last = start
        while (this.#has(folded, last + 1)) last += 1
        end = last + RUN_MIN
        found.push({ start, end })
        break
      }
    }
    return found
  }

  #has(text: string, at: number): boolean {
    return this.#pieces.has(text.slice(at, at + RUN_MIN))
  }
}

function pieces(text: string): readonly string[] {
  const all: string[] = []
  for (let at = 0; at + RUN_MIN <= text.length; at += 1) all.push(text.slice(at, at + RUN_MIN))
  return all
}

const probeAt = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) % PROBE_TABLE
