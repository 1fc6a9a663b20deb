import { element } from '../element.ts'
import { countText } from '../text/amount-text.ts'
import { TerminalText } from './terminal-text.ts'

/** The most of a terminal that is shown, and therefore asked for. */
export const TERMINAL_BYTES = 1024 * 1024
/** Drawn this often at most, however much comes. */
const DRAW_MS = 50
/** Closer to the end than this, somebody reads along. */
const NEAR_END_PX = 40

/** The end of what compilers and programs printed. */
export class Terminal {
  readonly root: HTMLElement
  readonly #pre = element('pre', { class: 'terminal', tabindex: '0', 'aria-label': 'Terminal' })
  readonly #note = element('p', { class: 'quiet' }, 'Nothing was printed yet.')
  #text = new TerminalText(false)
  #waiting = ''
  #shownChars = 0
  #leftOut = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.#pre.hidden = true
    this.root = element(
      'section',
      { class: 'card', 'aria-label': 'Terminal' },
      element('h3', {}, 'Terminal'),
      this.#note,
      this.#pre,
    )
  }

  /** The job is over: nothing is printed any more. */
  end(): void {
    if (this.#shownChars === 0 && this.#timer === undefined) this.#note.textContent = 'Nothing was printed.'
  }

  /** What comes begins at this byte of the log. */
  from(offset: number): void {
    this.#text = new TerminalText(offset > 0)
    this.#leftOut = offset
  }

  push(bytes: Uint8Array): void {
    this.#waiting += this.#text.push(bytes)
    // Nobody sees more than fits, and a page in the background draws late.
    if (this.#waiting.length > TERMINAL_BYTES) {
      this.#leftOut += this.#waiting.length - TERMINAL_BYTES
      this.#waiting = this.#waiting.slice(-TERMINAL_BYTES)
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#draw()
    }, DRAW_MS)
  }

  clear(): void {
    this.close()
    this.#waiting = ''
    this.#shownChars = 0
    this.#leftOut = 0
    this.#pre.replaceChildren()
    this.#pre.hidden = true
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #draw(): void {
    const isReadAlong = this.#pre.scrollHeight - this.#pre.scrollTop - this.#pre.clientHeight < NEAR_END_PX
    this.#pre.append(document.createTextNode(this.#waiting))
    this.#shownChars += this.#waiting.length
    this.#waiting = ''
    while (this.#shownChars > TERMINAL_BYTES) this.#dropFirst(this.#shownChars - TERMINAL_BYTES)
    this.#pre.hidden = this.#shownChars === 0
    this.#note.hidden = this.#leftOut === 0
    this.#note.textContent = `${countText(this.#leftOut)} characters before these are left out; job.read_log has them.`
    if (isReadAlong) this.#pre.scrollTop = this.#pre.scrollHeight
  }

  #dropFirst(chars: number): void {
    const first = this.#pre.firstChild
    if (!(first instanceof Text)) {
      this.#shownChars = 0
      return
    }
    const dropped = Math.min(chars, first.data.length)
    if (dropped === first.data.length) first.remove()
    else first.deleteData(0, dropped)
    this.#shownChars -= dropped
    this.#leftOut += dropped
  }
}
