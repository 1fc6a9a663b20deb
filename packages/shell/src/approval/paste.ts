import { StringDecoder } from 'node:string_decoder'

/** Asks a terminal to put what is pasted between brackets, and to leave that again. One that cannot shows nothing for it. */
export const BRACKETS_ON = '\u001B[?2004h'
export const BRACKETS_OFF = '\u001B[?2004l'

const ESCAPE = '\u001B'
const BEGIN = '\u001B[200~'
const END = '\u001B[201~'
const BRACKET = new RegExp(`${ESCAPE}\\[20(?:0|1)~`, 'g')
/** A line end with more behind it. */
const SEVERAL_LINES = /(?:\r\n|\r(?!\n)|\n)[^]/

/** What came of a terminal at once. */
export interface Typed {
  /** Without brackets. */
  readonly text: string
  /** Any part of it was pasted, or may have been: whoever decides by hand sends no brackets and one line at a time. */
  readonly isPasted: boolean
}

/** Tells what is pasted from what is typed, however a terminal cuts what it sends. */
export class PasteReader {
  readonly #decoder = new StringDecoder()
  /** The beginning of a bracket whose end did not come yet. */
  #held = ''
  #isInside = false

  take(chunk: Buffer | string): Typed {
    const came = this.#decoder.write(chunk)
    // Less than a character came.
    if (came === '') return { text: '', isPasted: this.#isInside }
    // The Escape key on its own begins nothing that is typed after it.
    const whole = this.#held === ESCAPE && !came.startsWith('[') ? came : `${this.#held}${came}`
    this.#held = begunBracket(whole)
    let isPasted = this.#isInside
    const text = whole.slice(0, whole.length - this.#held.length).replaceAll(BRACKET, (bracket) => {
      isPasted = true
      this.#isInside = bracket === BEGIN
      return ''
    })
    return { text, isPasted: isPasted || SEVERAL_LINES.test(text) }
  }
}

function begunBracket(text: string): string {
  const at = text.lastIndexOf(ESCAPE)
  const tail = at === -1 ? '' : text.slice(at)
  return tail.length < BEGIN.length && (BEGIN.startsWith(tail) || END.startsWith(tail)) ? tail : ''
}
