import { visibleLine } from '@parley/protocol/visible'

/** As much of the last lines as may hold a secret whole: one that was cut could not be taken out. */
const KEPT_CHARS = 64 * 1024
const TOLD_LINES = 3
const TOLD_CHARS = 300
/** What Node writes below the error that ended it; the error is what helps. */
const BELOW_AN_ERROR = /^\s+at |^Node\.js v|^\s*[{}]?\s*$/

/** The last complaints of a server, and what it said in place of a first message: they tell why it ended, or does not answer. */
export class LastWords {
  #text = ''
  #stray = ''
  #hasSpoken = false

  add(line: string): void {
    if (!BELOW_AN_ERROR.test(line)) this.#text = `${this.#text}\n${line}`.slice(-KEPT_CHARS)
  }

  /** A line of its output that is no message. After the first message it says nothing of why the server does not speak. */
  strayed(line: string): void {
    if (!this.#hasSpoken && this.#stray === '') this.#stray = line.slice(0, KEPT_CHARS)
  }

  spoke(): void {
    this.#hasSpoken = true
    this.#stray = ''
  }

  /** What is added to the word that it ended or does not answer; empty where it said nothing. */
  told(mask: (text: string) => string = (text) => text): string {
    const lines = mask(this.#text)
      .split('\n')
      .filter((line) => line.trim() !== '')
    const last = lines
      .slice(-TOLD_LINES)
      .map((line) => visibleLine(line.trim()))
      .join(' / ')
    const stray = visibleLine(mask(this.#stray).trim())
    return [
      stray === ''
        ? ''
        : `; its output began with what is no message: ${stray.length <= TOLD_CHARS ? stray : `${stray.slice(0, TOLD_CHARS - 1)}…`}`,
      last === '' ? '' : `; it said last: ${last.length <= TOLD_CHARS ? last : `…${last.slice(1 - TOLD_CHARS)}`}`,
    ].join('')
  }
}
