import { plainText } from '../text/plain-text.ts'

/** The longest escape sequence that is waited for. */
const HELD_CHARS = 256

/** Turns the bytes of a terminal into plain text. Characters and escape sequences may be split between two pieces. */
export class TerminalText {
  readonly #decoder = new TextDecoder()
  #held = ''
  #isInside: boolean

  /** `isInside`: the first byte is not the beginning of the log, and perhaps not of a character. */
  constructor(isInside: boolean) {
    this.#isInside = isInside
  }

  push(bytes: Uint8Array): string {
    const text = this.#held + this.#decoder.decode(this.#isInside ? fromCharacter(bytes) : bytes, { stream: true })
    this.#isInside = false
    const split = unfinishedAt(text)
    this.#held = text.slice(split)
    return plainText(text.slice(0, split))
  }
}

/** Where an escape sequence or a line ending begins whose end has not come yet. */
function unfinishedAt(text: string): number {
  const escape = text.lastIndexOf('\u001B')
  if (escape >= 0 && text.length - escape < HELD_CHARS && !FINISHED.test(text.slice(escape))) return escape
  return text.endsWith('\r') ? text.length - 1 : text.length
}
// oxlint-disable-next-line eslint/no-control-regex
const FINISHED = /^\u001B(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\u0007\u001B]*\u0007|[@-Z\\^_](?<![[\]]))/

/** Leaves out the rest of a character whose beginning is not there. */
function fromCharacter(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80)
  return start < 0 ? new Uint8Array() : bytes.subarray(start)
}
