import { Readable, Writable } from 'node:stream'
import { clearScreenDown, createInterface, cursorTo, emitKeypressEvents, type Interface, moveCursor } from 'node:readline'
import type { Io } from '@parley/command-line'
import { widthOf } from '@parley/screen'
import type { Answers } from '../approval/desk.ts'
import { BRACKETS_OFF, BRACKETS_ON, PasteReader } from '../approval/paste.ts'

const PROMPT = '> '
const COLUMNS_USUAL = 80
/** An answer is a word of its own, so that nobody decides while they write something else. */
const WORD = /^\/(.?)$/
const WORDS_HELP =
  'a line is said to the agent; /q or Ctrl-D ends; what is asked about is answered by the words that are shown with it\n'

type Stdin = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown }

interface TerminalParts {
  readonly io: Pick<Io, 'err' | 'onSignal' | 'out' | 'screen'> & { readonly stdin: Stdin }
  /** A line to be said. */
  readonly said: (text: string) => void
}

/**
 * A terminal on which somebody writes while others do: what comes stands above the line that is being written, which stays as it is. Words such
 * as `/a` answer what is asked, and count only for what was asked when the word was begun. A line that was pasted, or any part of it, is never a word.
 */
export class ChatTerminal implements Answers, Disposable {
  readonly #parts: TerminalParts
  readonly #line: Interface
  readonly #pastes = new PasteReader()
  readonly #input: TerminalInput
  readonly #output: Writable & { readonly columns: number }
  readonly #left = new AbortController()
  readonly #over = new AbortController()
  readonly #ignore: () => void
  #waiting: PromiseWithResolvers<string> | undefined
  /** What was asked when the line was begun. */
  #begunFor: PromiseWithResolvers<string> | undefined
  /** Of what comes now. */
  #isPasted = false
  /** Of any part of the line that is being written. */
  #isLinePasted = false
  #isClosed = false
  isInterrupted = false

  constructor(parts: TerminalParts) {
    this.#parts = parts
    const { io } = parts
    this.#output = new TerminalOutput(io)
    this.#input = new TerminalInput(io)
    // Before the line editor hears the same: it is looked at what the line was before the key.
    emitKeypressEvents(this.#input)
    this.#input.on('keypress', this.#key)
    this.#line = createInterface({ input: this.#input, output: this.#output, terminal: true, prompt: PROMPT })
    this.#line.on('line', this.#entered)
    this.#line.on('SIGINT', () => this.#interrupt())
    this.#line.on('close', () => {
      this.#isClosed = true
      this.#left.abort()
    })
    this.#ignore = io.onSignal(() => this.#interrupt())
    io.stdin.on('data', this.#chunk)
    io.stdin.on('end', this.#ended)
    this.#line.prompt()
  }

  /** Aborted when everything is over. */
  get signal(): AbortSignal {
    return this.#over.signal
  }
  /** Aborted when nothing more is written here: what was written may still be on its way. */
  get left(): AbortSignal {
    return this.#left.signal
  }

  next(): Promise<string> {
    this.#waiting ??= Promise.withResolvers()
    return this.#waiting.promise
  }

  forget(): void {
    this.#waiting = undefined
  }

  /** Shows a text above the line that is being written. */
  readonly show = (text: string | Uint8Array): void => {
    const shown = text.toString().replace(/\n$/, '')
    const { io } = this.#parts
    if (this.#isClosed) return io.out(`${shown}\n`)
    const { rows } = this.#line.getCursorPos()
    moveCursor(this.#output, 0, -rows)
    cursorTo(this.#output, 0)
    clearScreenDown(this.#output)
    // The editor goes up by the rows that its line had before it writes it again.
    io.out(`${shown}\n${'\n'.repeat(rows)}`)
    this.#line.prompt(true)
  }

  /** How much of what was written is still on its way. */
  waits(count: number): void {
    this.#line.setPrompt(count === 0 ? PROMPT : `(${count} on ${count === 1 ? 'its' : 'their'} way) ${PROMPT}`)
    if (!this.#isClosed) this.#line.prompt(true)
  }

  /** Whoever waits for the end of the writing has waited for nothing. */
  end(): void {
    this.#over.abort()
    this.#left.abort()
  }

  [Symbol.dispose](): void {
    this.#ignore()
    this.end()
    this.#parts.io.stdin.off('data', this.#chunk)
    this.#parts.io.stdin.off('end', this.#ended)
    this.#input.off('keypress', this.#key)
    this.#line.close()
    this.#parts.io.stdin.pause()
  }

  #interrupt(): void {
    this.isInterrupted = true
    this.end()
  }

  readonly #chunk = (piece: Buffer | string): void => {
    const { text, isPasted } = this.#pastes.take(piece)
    this.#isPasted = isPasted
    if (text !== '') this.#input.emit('data', text)
  }

  readonly #ended = (): void => void this.#input.emit('end')

  readonly #key = (): void => {
    if (this.#line.line === '') {
      this.#begunFor = this.#waiting
      this.#isLinePasted = false
    }
    this.#isLinePasted ||= this.#isPasted
  }

  readonly #entered = (text: string): void => {
    const word = WORD.exec(text)?.[1]
    if (word === undefined && text.trim() === '') return this.#line.prompt()
    this.#erase(text)
    if (word === undefined) this.#parts.said(text)
    else if (this.#isLinePasted) this.show(`/${word} was pasted: it does nothing unless you write it`)
    else if (word === 'q') this.#line.close()
    else if (word === '?' || word === '') this.show(WORDS_HELP)
    else this.#answer(word)
  }

  #answer(word: string): void {
    const asked = this.#begunFor
    if (asked === undefined || asked !== this.#waiting)
      this.show(`/${word} was begun before what is asked now was shown, or nothing is asked: it decides nothing`)
    else {
      this.forget()
      asked.resolve(word)
    }
  }

  /** What was written is shown when it is there, with who said it and when. */
  #erase(text: string): void {
    const columns = this.#output.columns
    const rows = Math.floor((widthOf(this.#line.getPrompt()) + widthOf(text)) / columns) + 1
    // Where an editor shows something else than was typed, it is not known how many rows that took.
    if (!/^\P{C}*$/u.test(text)) return this.#line.prompt()
    moveCursor(this.#output, 0, -rows)
    cursorTo(this.#output, 0)
    clearScreenDown(this.#output)
    this.#line.prompt()
  }
}

/** Where the line editor hears keys: what comes is given to it when it is known what was pasted. Its raw mode is that of the terminal. */
class TerminalInput extends Readable {
  readonly #io: Pick<Io, 'err'> & { readonly stdin: Stdin }

  constructor(io: Pick<Io, 'err'> & { readonly stdin: Stdin }) {
    super({ read: () => undefined })
    this.#io = io
  }

  /** Pastes come in brackets for as long as the terminal is ours. */
  setRawMode(isRaw: boolean): void {
    this.#io.stdin.setRawMode?.(isRaw)
    this.#io.err(isRaw ? BRACKETS_ON : BRACKETS_OFF)
  }
}

/** Where the line is written: as wide as the screen is by now. */
class TerminalOutput extends Writable {
  readonly #io: Pick<Io, 'err' | 'screen'>

  constructor(io: Pick<Io, 'err' | 'screen'>) {
    super({ decodeStrings: false })
    this.#io = io
  }

  get columns(): number {
    return this.#io.screen()?.columns ?? COLUMNS_USUAL
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    this.#io.err(text)
    done()
  }
}
