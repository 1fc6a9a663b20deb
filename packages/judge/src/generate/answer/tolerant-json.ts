import type { JsonObject, JsonValue } from '@parley/protocol'

/** What was read of something that is nearly JSON. */
export interface TolerantRead {
  readonly value: JsonValue
  /** What was not as it should be, in words. */
  readonly tolerated: readonly string[]
  /** Names of the members in whose value the text ended. */
  readonly cut: readonly string[]
  /** Where reading stopped. */
  readonly end: number
}

/** Deeper nesting is no answer to anything we ask. */
const DEPTH_MAX = 64

class NotJson extends Error {}

/**
 * Reads JSON as models write it: comments, trailing commas, single quotes, bare names, line ends inside strings, an end that
 * comes too early. `undefined`: it is nothing of the kind.
 */
export function readTolerantly(text: string, start = 0): TolerantRead | undefined {
  const reader = new Reader(text, start)
  try {
    const value = reader.value(0)
    return { value, tolerated: [...reader.tolerated], cut: reader.cut, end: reader.at }
  } catch (error) {
    if (error instanceof NotJson) return undefined
    throw error
  }
}

class Reader {
  readonly tolerated = new Set<string>()
  readonly cut: string[] = []
  at: number
  readonly #text: string
  readonly #names: string[] = []

  constructor(text: string, start: number) {
    this.#text = text
    this.at = start
  }

  value(depth: number): JsonValue {
    if (depth > DEPTH_MAX) throw new NotJson()
    this.#space()
    const next = this.#text[this.at]
    if (next === undefined) return this.#ended(null)
    if (next === '{') return this.#object(depth)
    if (next === '[') return this.#array(depth)
    if (next === '"' || next === "'" || next === '`') return this.#string(next)
    return this.#word()
  }

  #object(depth: number): JsonObject {
    const object: JsonObject = {}
    this.at += 1
    for (;;) {
      this.#space()
      const next = this.#text[this.at]
      if (next === undefined) return this.#ended(object)
      if (next === '}') {
        this.at += 1
        return object
      }
      if (next === ',') this.#comma()
      else {
        const name = next === '"' || next === "'" ? this.#string(next) : this.#name()
        this.#space()
        if (this.#text[this.at] === undefined) return this.#ended(object)
        if (this.#text[this.at] !== ':') throw new NotJson()
        this.at += 1
        this.#names.push(name)
        object[name] = this.value(depth + 1)
        this.#names.pop()
        this.#separator('}')
      }
    }
  }

  #array(depth: number): JsonValue[] {
    const items: JsonValue[] = []
    this.at += 1
    for (;;) {
      this.#space()
      const next = this.#text[this.at]
      if (next === undefined) return this.#ended(items)
      if (next === ']') {
        this.at += 1
        return items
      }
      if (next === ',') this.#comma()
      else {
        items.push(this.value(depth + 1))
        this.#separator(']')
      }
    }
  }

  /** Between two members a comma, or at least the end of the line. */
  #separator(close: string): void {
    const before = this.at
    this.#space()
    const next = this.#text[this.at]
    if (next === undefined || next === close) return
    if (next === ',') {
      this.at += 1
      this.#space()
      if (this.#text[this.at] === close) this.tolerated.add('a comma before the end')
    } else if (this.#text.slice(before, this.at).includes('\n')) this.tolerated.add('a missing comma')
    else throw new NotJson()
  }

  #comma(): void {
    this.tolerated.add('a comma too many')
    this.at += 1
  }

  #string(quote: string): string {
    if (quote !== '"') this.tolerated.add('other quotes than double ones')
    let made = ''
    this.at += 1
    for (;;) {
      const next = this.#text[this.at]
      if (next === undefined) return this.#ended(made)
      this.at += 1
      if (next === quote) return made
      if (next === '\\') made += this.#escape()
      else {
        if (next < ' ')
          this.tolerated.add(next === '\n' || next === '\r' ? 'line ends inside a string' : 'control characters inside a string')
        made += next
      }
    }
  }

  #escape(): string {
    const next = this.#text[this.at]
    if (next === undefined) return ''
    this.at += 1
    const plain = ESCAPES.get(next)
    if (plain !== undefined) return plain
    const hex = next === 'u' ? /^[0-9a-fA-F]{4}/.exec(this.#text.slice(this.at, this.at + 4))?.[0] : undefined
    if (hex !== undefined) {
      this.at += hex.length
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    this.tolerated.add(next === '\n' ? 'line ends inside a string' : 'escapes that JSON does not have')
    return next === "'" || next === '\n' || next === '`' ? next : `\\${next}`
  }

  #word(): JsonValue {
    const word = /^[-+.\w]+/.exec(this.#text.slice(this.at, this.at + WORD_MAX))?.[0]
    if (word === undefined) throw new NotJson()
    this.at += word.length
    const known = WORDS.get(word)
    if (known !== undefined) {
      if (!/^(true|false|null)$/.test(word)) this.tolerated.add('words of another language')
      return known
    }
    const number = Number(word)
    if (Number.isFinite(number)) return number
    // The text ended in the middle of a word.
    if (this.at >= this.#text.length) return this.#ended(null)
    throw new NotJson()
  }

  #name(): string {
    const name = /^[A-Za-z_$][\w$]*/.exec(this.#text.slice(this.at, this.at + WORD_MAX))?.[0]
    if (name === undefined) throw new NotJson()
    this.at += name.length
    this.tolerated.add('names without quotes')
    return name
  }

  #space(): void {
    for (;;) {
      while (/\s/.test(this.#text[this.at] ?? '')) this.at += 1
      const two = this.#text.slice(this.at, this.at + 2)
      if (two !== '//' && two !== '/*') return
      const end = this.#text.indexOf(two === '//' ? '\n' : '*/', this.at)
      this.at = end < 0 ? this.#text.length : end + (two === '//' ? 1 : 2)
      this.tolerated.add('comments')
    }
  }

  /** The text is over before its time: what is there counts. */
  #ended<Value>(value: Value): Value {
    this.tolerated.add('an end that came too early')
    this.cut.push(...this.#names)
    return value
  }
}

const WORD_MAX = 256
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])
const WORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['True', true],
  ['False', false],
  ['None', null],
  ['undefined', null],
])
