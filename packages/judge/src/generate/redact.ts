import { type JsonValue, type Report, isJsonObject, parseJson } from '@parley/protocol'
import type { StatusLine } from '../tester.ts'

const SHOWN = '***'
/** A shorter secret stands in ordinary text by chance. */
const SECRET_CHARS_MIN = 8

/** Takes secrets out of what leaves. New ones may come at any time. */
export class Redactor {
  readonly #secrets = new Set<string>()
  #pattern: RegExp | undefined

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret)
  }

  add(secret: string): void {
    if (secret.length < SECRET_CHARS_MIN || this.#secrets.has(secret)) return
    this.#secrets.add(secret)
    // The longest first: one secret may begin with another.
    const escaped = this.secrets.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
    this.#pattern = new RegExp(escaped.join('|'), 'g')
  }

  get secrets(): readonly string[] {
    return [...this.#secrets].toSorted((a, b) => b.length - a.length)
  }

  isIn(text: string): boolean {
    return [...this.#secrets].some((secret) => text.includes(secret))
  }

  text(text: string): string {
    return this.#pattern === undefined ? text : text.replaceAll(this.#pattern, SHOWN)
  }

  /** Every string in a JSON value, the names of members included. */
  json<Value extends JsonValue | undefined>(value: Value): Value
  json(value: JsonValue | undefined): JsonValue | undefined {
    if (this.#pattern === undefined) return value
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.json(item))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [this.text(name), this.json(item)]))
  }

  line(line: StatusLine): StatusLine {
    return {
      ...line,
      summary: this.text(line.summary),
      ...(line.delta === undefined ? {} : { delta: this.text(line.delta) }),
      ...(line.meta === undefined ? {} : { meta: this.#meta(line.meta) }),
    }
  }

  /** Messages and streams of a report. */
  report(report: Report): Report {
    if (this.#pattern === undefined) return report
    const { compile, summary, error } = report
    const words = (text: string | null): string | null => (text === null ? null : this.text(text))
    return {
      ...report,
      compile:
        compile === null
          ? null
          : {
              ...compile,
              stdout_b64: this.#base64(compile.stdout_b64),
              stderr_b64: this.#base64(compile.stderr_b64),
              message: words(compile.message),
            },
      tests: report.tests.map((result) => ({
        ...result,
        message: words(result.message),
        stdout_b64: this.#base64(result.stdout_b64),
        stderr_b64: this.#base64(result.stderr_b64),
        diff:
          result.diff === null
            ? null
            : {
                ...result.diff,
                message: this.text(result.diff.message),
                actual_preview_b64: this.#base64(result.diff.actual_preview_b64),
              },
      })),
      summary: { ...summary, first_failure_message: words(summary.first_failure_message) },
      error: error === null ? null : { ...error, message: this.text(error.message) },
    }
  }

  /** What comes in pieces of text. */
  stream(): TextRedaction {
    return new TextRedaction(() => this.secrets)
  }

  /** What comes in pieces of bytes. */
  byteStream(): ByteRedaction {
    return new ByteRedaction(() => this.secrets)
  }

  #meta(meta: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const clean = this.json(parseJson(JSON.stringify(meta)))
    return isJsonObject(clean) ? clean : {}
  }

  #base64(base64: string): string {
    if (base64 === '') return base64
    const stream = this.byteStream()
    const bytes = Buffer.from(base64, 'base64')
    const clean = Buffer.concat([stream.push(bytes), stream.end()])
    return clean.equals(bytes) ? base64 : clean.toString('base64')
  }
}

/** Secrets in a text that comes in pieces, also those that a border cuts: what may be the beginning of one is held back. */
export class TextRedaction {
  readonly #secrets: () => readonly string[]
  #held = ''

  constructor(secrets: () => readonly string[]) {
    this.#secrets = secrets
  }

  push(piece: string): string {
    const secrets = this.#secrets()
    let text = this.#held + piece
    let clean = ''
    for (;;) {
      const found = firstOf(text, secrets)
      if (found === undefined) break
      // A longer one that is not all there yet may begin at the same place or before.
      const held = heldFrom(text, secrets)
      if (held < found.at + found.length && held <= found.at) break
      clean += text.slice(0, found.at) + SHOWN
      text = text.slice(found.at + found.length)
    }
    const from = heldFrom(text, secrets)
    this.#held = text.slice(from)
    return clean + text.slice(0, from)
  }

  /** The rest. Nothing may follow. */
  end(): string {
    const text = this.#held
    this.#held = ''
    return new Redactor(this.#secrets()).text(text)
  }
}

/** The same for bytes: each stands for a character, so that nothing of UTF-8 has to be whole. */
export class ByteRedaction {
  readonly #text: TextRedaction

  constructor(secrets: () => readonly string[]) {
    this.#text = new TextRedaction(() => secrets().map((secret) => Buffer.from(secret).toString('latin1')))
  }

  push(bytes: Uint8Array): Buffer {
    return Buffer.from(this.#text.push(Buffer.from(bytes).toString('latin1')), 'latin1')
  }
  end(): Buffer {
    return Buffer.from(this.#text.end(), 'latin1')
  }
}

function firstOf(text: string, secrets: readonly string[]): { readonly at: number; readonly length: number } | undefined {
  let found: { at: number; length: number } | undefined
  for (const { length, at } of secrets.map((secret) => ({ length: secret.length, at: text.indexOf(secret) })))
    if (at >= 0 && (found === undefined || at < found.at)) found = { at, length }
  return found
}

/** Where the longest end of the text begins that is the beginning of a secret; the text's length if none is. */
function heldFrom(text: string, secrets: readonly string[]): number {
  let from = text.length
  for (const secret of secrets)
    for (let at = Math.max(0, text.length - secret.length + 1); at < from; at += 1)
      if (secret.startsWith(text.slice(at))) from = at
  return from
}
