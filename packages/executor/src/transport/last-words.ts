import { visibleLine } from '@parley/protocol/visible'

/** As much of the last lines as may hold a secret whole: one that was cut could not be taken out. */
const KEPT_CHARS = 64 * 1024
const TOLD_LINES = 3
const TOLD_CHARS = 300
/** What Node writes below the error that ended it; the error is what helps. */
const BELOW_AN_ERROR = /^\s+at |^Node\.js v|^\s*[{}]?\s*$/

/** The last complaints of a server: they tell why it ended. */
export class LastWords {
  #text = ''

  add(line: string): void {
    if (!BELOW_AN_ERROR.test(line)) this.#text = `${this.#text}\n${line}`.slice(-KEPT_CHARS)
  }

  /** What is added to the word that it ended; empty where it said nothing. */
  told(mask: (text: string) => string = (text) => text): string {
    const lines = mask(this.#text)
      .split('\n')
      .filter((line) => line.trim() !== '')
    const last = lines
      .slice(-TOLD_LINES)
      .map((line) => visibleLine(line.trim()))
      .join(' / ')
    if (last === '') return ''
    return `; it said last: ${last.length <= TOLD_CHARS ? last : `…${last.slice(1 - TOLD_CHARS)}`}`
  }
}
