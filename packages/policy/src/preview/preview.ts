import { type JsonObject, type JsonValue } from '@parley/protocol'
import { hashOf } from '../call/digest.ts'
import { visibleText } from '../call/visible.ts'
import { HIDDEN, isSecretFlag, isSecretName, maskText, withoutSecrets } from './secrets.ts'

/** What people see at most. All that is left out is said with its size. */
export const PREVIEW_LIMITS = {
  depth: 8,
  /** Members of one object, items of one list. */
  members: 50,
  /** Values in all. */
  values: 400,
  /** Of one text: its beginning and its end. */
  headChars: 1_500,
  tailChars: 300,
  nameChars: 128,
  /** Of all texts and names together. */
  chars: 16_000,
} as const

/** Secrets are looked for in so much of a text. The end of a longer one is not shown: a secret may begin before it. */
const CLEANED_CHARS = 16_384

/** Arguments as people are shown them. */
export interface Preview {
  readonly value: JsonValue
  /** The same as text; what is hashed. */
  readonly text: string
  /** SHA-256 of the text: it proves what somebody was shown without keeping it. */
  readonly hash: string
  /** How many secrets are hidden. */
  readonly masked: number
  /** Whether something is left out for its size: whoever decides should look at the whole. */
  readonly cut: boolean
}

/** The one way in which arguments become what people see. The same arguments give the same text, always. */
export function previewOf(value: JsonValue): Preview {
  const maker = new PreviewMaker()
  const shown = maker.shown(value, 0)
  const text = JSON.stringify(shown, null, 2)
  return { value: shown, text, hash: hashOf(text), masked: maker.masked, cut: maker.cut }
}

class PreviewMaker {
  masked = 0
  cut = false
  #values = 0
  #chars = 0

  get #isFull(): boolean {
    return this.#values > PREVIEW_LIMITS.values || this.#chars >= PREVIEW_LIMITS.chars
  }

  shown(value: JsonValue, depth: number): JsonValue {
    this.#values += 1
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null) return value
    const size = Array.isArray(value) ? value.length : Object.keys(value).length
    if (size > 0 && (depth >= PREVIEW_LIMITS.depth || this.#isFull)) return this.#leftOut(size, 'values')
    return Array.isArray(value) ? this.#list(value, depth) : this.#object(value, depth)
  }

  #list(items: readonly JsonValue[], depth: number): JsonValue {
    const shown: JsonValue[] = []
    for (const [at, item] of items.entries()) {
      if (at >= PREVIEW_LIMITS.members || this.#isFull) return [...shown, this.#leftOut(items.length - at, 'more')]
      const before = items[at - 1]
      const isSecret = typeof before === 'string' && typeof item === 'string' && isSecretFlag(before)
      shown.push(isSecret ? this.#hidden(item) : this.shown(item, depth + 1))
    }
    return shown
  }

  #object(value: JsonObject, depth: number): JsonValue {
    // Members have no order of their own: sorted, the same arguments look the same.
    const names = Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1))
    // `{ name: "API_KEY", value: … }`, as environments and headers are written.
    const isNamedSecret = [value['name'], value['key']].some((name) => typeof name === 'string' && isSecretName(name))
    const shown = new Map<string, JsonValue>()
    for (const [at, name] of names.entries()) {
      if (at >= PREVIEW_LIMITS.members || this.#isFull) {
        shown.set(`⟦${names.length - at} more⟧`, this.#leftOut(names.length - at, 'more'))
        break
      }
      const member = value[name]
      if (member !== undefined)
        shown.set(
          this.#name(name, at),
          isSecretName(name) || (name === 'value' && isNamedSecret) ? this.#hidden(member) : this.shown(member, depth + 1),
        )
    }
    return Object.fromEntries(shown)
  }

  /** Two long names that begin alike must not become one. */
  #name(name: string, at: number): string {
    const before = this.masked
    const text = this.#clean(name.slice(0, PREVIEW_LIMITS.nameChars))
    this.#chars += text.length
    if (name.length <= PREVIEW_LIMITS.nameChars && this.masked === before) return text
    this.cut ||= name.length > PREVIEW_LIMITS.nameChars
    return `${text}⟦${name.length} characters, member ${at + 1}⟧`
  }

  #text(text: string): string {
    const { headChars, tailChars } = PREVIEW_LIMITS
    const clean = this.#clean(text.slice(0, CLEANED_CHARS))
    this.#chars += Math.min(clean.length, headChars + tailChars)
    if (text.length <= CLEANED_CHARS && clean.length <= headChars + tailChars) return clean
    const tail = text.length <= CLEANED_CHARS ? clean.slice(-tailChars).toWellFormed() : ''
    const left = this.#leftOut(Math.max(0, text.length - headChars - tail.length), `of ${text.length} characters`)
    return clean.slice(0, headChars).toWellFormed() + left + tail
  }

  #clean(text: string): string {
    const clean = withoutSecrets(visibleText(text))
    this.masked += clean.masked
    return clean.text
  }

  #hidden(value: JsonValue): JsonValue {
    if (value === null || typeof value === 'boolean' || value === '') return value
    this.masked += 1
    return typeof value === 'string' ? maskText(value.length) : HIDDEN
  }

  #leftOut(count: number, what: string): string {
    this.cut = true
    return `⟦… ${count} ${what} left out …⟧`
  }
}
