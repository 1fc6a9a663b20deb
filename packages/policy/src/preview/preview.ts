import { type JsonObject, type JsonValue } from '@parley/protocol'
import { hashOf } from '../call/digest.ts'
import { visibleText } from '@parley/protocol/visible'
import { isSecretFlag, isSecretHeader, isSecretName } from './secret-names.ts'
import { HIDDEN, hasMask, isDrawn, maskText, maskedValue } from './secret-values.ts'
import { maskedWord, withoutSecrets } from './secrets.ts'

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
/** Nor are the last of these: what is cut off in the middle of a secret does not look like one. */
const EDGE_CHARS = 512

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

/** What a preview says of itself: it can be read from any that was kept, because nobody else can write its marks. */
export const marksIn = (preview: string): { readonly masked: boolean; readonly cut: boolean } => ({
  masked: hasMask(preview),
  cut: preview.includes(CUT),
})

const CUT = '⟦…'

class PreviewMaker {
  masked = 0
  cut = false
  #values = 0
  #chars = 0

  get #isFull(): boolean {
    return this.#values > PREVIEW_LIMITS.values || this.#chars >= PREVIEW_LIMITS.chars
  }

  shown(value: JsonValue, depth: number, isAmongSecrets = false): JsonValue {
    this.#values += 1
    if (typeof value === 'string')
      return isAmongSecrets && isDrawn(value) ? this.#mask(maskText(value.length)) : this.#text(value)
    if (typeof value !== 'object' || value === null) return value
    const size = Array.isArray(value) ? value.length : Object.keys(value).length
    if (size > 0 && (depth >= PREVIEW_LIMITS.depth || this.#isFull)) return this.#leftOut(size, 'values')
    return Array.isArray(value) ? this.#list(value, depth, isAmongSecrets) : this.#object(value, depth, isAmongSecrets)
  }

  #list(items: readonly JsonValue[], depth: number, isAmongSecrets: boolean): JsonValue {
    const shown: JsonValue[] = []
    for (const [at, item] of items.entries()) {
      if (at >= PREVIEW_LIMITS.members || this.#isFull) return [...shown, this.#leftOut(items.length - at, 'more')]
      const before = items[at - 1]
      const isNamed = typeof before === 'string' && (isSecretFlag(before) || (items.length === 2 && isSecretHeader(before)))
      const word = maskedWord(items, at)
      if (word !== undefined) shown.push(this.#mask(word))
      else
        shown.push(isNamed && typeof item === 'string' ? this.#secret(item, depth) : this.shown(item, depth + 1, isAmongSecrets))
    }
    return shown
  }

  #object(value: JsonObject, depth: number, isAmongSecrets: boolean): JsonValue {
    // Members have no order of their own: sorted, the same arguments look the same.
    const names = Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1))
    // `{ name: "API_KEY", value: … }`, as environments and headers are written.
    const isNamedSecret = names.some((name) => {
      const member = /^(?:header|key|name)$/i.test(name) ? value[name] : undefined
      return typeof member === 'string' && isSecretName(member)
    })
    const shown = new Map<string, JsonValue>()
    for (const [at, name] of names.entries()) {
      if (at >= PREVIEW_LIMITS.members || this.#isFull) {
        shown.set(`⟦… ${names.length - at} more⟧`, this.#leftOut(names.length - at, 'more'))
        break
      }
      const member = value[name]
      if (member === undefined) continue
      const isSecret = isSecretName(name) || (isNamedSecret && /^value$/i.test(name))
      shown.set(this.#name(name, at), isSecret ? this.#secret(member, depth) : this.shown(member, depth + 1, isAmongSecrets))
    }
    return Object.fromEntries(shown)
  }

  /** Two long names that begin alike must not become one. */
  #name(name: string, at: number): string {
    const before = this.masked
    const text = this.#clean(name.slice(0, PREVIEW_LIMITS.nameChars))
    this.#chars += text.length
    if (name.length > PREVIEW_LIMITS.nameChars) {
      this.cut = true
      return `${text}${CUT} ${name.length} characters, member ${at + 1}⟧`
    }
    return this.masked === before ? text : `${text}⟦member ${at + 1}⟧`
  }

  #text(text: string): string {
    const { headChars, tailChars } = PREVIEW_LIMITS
    const clean = this.#clean(text.slice(0, CLEANED_CHARS))
    this.#chars += Math.min(clean.length, headChars + tailChars)
    if (text.length <= CLEANED_CHARS && clean.length <= headChars + tailChars) return clean
    const isWhole = text.length <= CLEANED_CHARS
    const head = clean.slice(0, isWhole ? headChars : Math.min(headChars, Math.max(0, clean.length - EDGE_CHARS))).toWellFormed()
    const tail = isWhole ? clean.slice(-tailChars).toWellFormed() : ''
    const left = this.#leftOut(Math.max(0, text.length - head.length - tail.length), `of ${text.length} characters`)
    return head + left + tail
  }

  #clean(text: string): string {
    const clean = withoutSecrets(visibleText(text))
    this.masked += clean.masked
    return clean.text
  }

  /** What stands under the name of a secret. What can do something is shown, whatever its name says. */
  #secret(value: JsonValue, depth: number): JsonValue {
    if (typeof value === 'number') return this.#mask(HIDDEN)
    const masked = typeof value === 'string' ? maskedValue(value) : undefined
    return masked === undefined ? this.shown(value, depth + 1, true) : this.#mask(masked)
  }

  #mask(masked: string): string {
    this.#values += 1
    this.masked += 1
    return masked
  }

  #leftOut(count: number, what: string): string {
    this.cut = true
    return `${CUT} ${count} ${what} left out …⟧`
  }
}
