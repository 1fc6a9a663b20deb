import { isUtf8 } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import { beyondBounds, type ByteShare, FOREIGN_BOUNDS, messageOf, parseJson, within } from '@parley/protocol'
import type { ClientLink, ClientTransport, OutgoingRequest, Sink } from '@parley/rpc'
import type { ExecProcess, OutputChunk } from '../process/exec-process.ts'
import { endedBy } from '../process/exit-code.ts'
import { followProcess, type ProcessEnd } from '../process/follow-process.ts'
import { LastWords } from './last-words.ts'
import { LineBuffer } from './line-buffer.ts'
import { SerialWriter } from './serial-writer.ts'

/** The longest message of a server. A longer one is the end: it may have been an answer that somebody waits for. */
const STDOUT_LINE_BYTES = 8 * 1024 * 1024
/** A longer line of complaints is cut. */
const STDERR_LINE_BYTES = 1024 * 1024
/** Nobody opened it by then: nobody will, and the server must not stay. */
const OPEN_WAIT_MS = 30_000
/** What a server may say before anybody listens. */
const EARLY_CHARS = 8 * 1024 * 1024
/** What a server gets to end by itself after its input ended. */
const END_INPUT_MS = 2_000
const TERMINATE_TRIES = 3
const TERMINATE_PAUSE_MS = 100

export type TransportLog = (level: 'debug' | 'info' | 'warn', message: string) => void

export interface ProcessTransportOptions {
  /** How the server is called in log lines. */
  readonly name: string
  readonly log: TransportLog
  /** Takes secrets out of what the server said last, where its end is told. */
  readonly mask?: (text: string) => string
  readonly stdoutLineBytes?: number
  /** Room for what has come of an unfinished message; a server for whose message there is none is ended. */
  readonly share?: ByteShare
  readonly openWaitMs?: number
  readonly endInputMs?: number
}

/**
 * MCP over the stdin and stdout of a process, wherever that runs. It chooses no place and starts nothing; it ends the process when it
 * is closed, disposed of or never opened. States: new → open → over.
 */
export class ExecutorProcessTransport implements ClientTransport, AsyncDisposable {
  readonly kind = 'stdio'
  readonly #process: ExecProcess
  readonly #options: ProcessTransportOptions
  readonly #writer: SerialWriter
  readonly #stdout: LineBuffer
  readonly #stderr: LineBuffer
  readonly #lastWords = new LastWords()
  readonly #opening: NodeJS.Timeout
  #exitCode: number | undefined
  /** What came before anybody listened. */
  #early: string[] = []
  #earlyChars = 0
  #sink: Sink | undefined
  #endReason: string | undefined
  #closing: Promise<void> | undefined

  constructor(process: ExecProcess, options: ProcessTransportOptions) {
    const { name, log, stdoutLineBytes = STDOUT_LINE_BYTES, openWaitMs = OPEN_WAIT_MS } = options
    this.#process = process
    this.#options = options
    this.#writer = new SerialWriter(process)
    this.#stdout = new LineBuffer(
      stdoutLineBytes,
      (line) => this.#message(line),
      () => this.#fatal(`a line has more than ${stdoutLineBytes} bytes`),
      options.share === undefined
        ? undefined
        : { share: options.share, full: () => this.#fatal('there is no room for what has come of unfinished messages') },
    )
    this.#stderr = new LineBuffer(
      STDERR_LINE_BYTES,
      (line) => this.#complained(line.toString('utf8')),
      (kept) => this.#complained(`${kept.toString('utf8')} (cut: the line is longer than ${STDERR_LINE_BYTES} bytes)`),
    )
    this.#opening = setTimeout(() => void this.#close(), openWaitMs)
    this.#opening.unref()
    // Before anything is written, so that not even the first answer can be missed.
    followProcess(process, {
      output: (chunk) => this.#output(chunk),
      exited: (exitCode) => {
        this.#exitCode = exitCode
        if (exitCode !== 0 && this.#closing === undefined) log('warn', `${name} ended: exit code ${exitCode}`)
      },
      lagged: (skipped) => log('warn', `Remote MCP server output stream lagged (${name}): skipped ${skipped} events`),
      ended: (end) => this.#ended(end),
    })
  }

  open(sink: Sink): ClientLink {
    if (this.#sink !== undefined) throw new TypeError('a transport is opened once')
    clearTimeout(this.#opening)
    this.#sink = sink
    const early = this.#early
    this.#early = []
    for (const text of early) sink.receive(text)
    if (this.#endReason !== undefined) sink.ended({ code: undefined, reason: this.#endReason })
    const { name, log } = this.#options
    return {
      kind: this.kind,
      send: (text) =>
        this.#writer.send(text, (error) => log('warn', `a message did not reach MCP server ${name}: ${error.message}`)),
      request: ({ id, text }: OutgoingRequest) => this.#writer.send(text, (error) => sink.fail(id, error)),
      bufferedBytes: () => this.#writer.bufferedBytes,
      close: () => {
        // Nobody waits for it: a server that takes its time must not hold up the one that follows.
        void this.#close()
        return Promise.resolve()
      },
    }
  }

  said(): string {
    return this.#lastWords.told(this.#options.mask)
  }

  /** Ends the process; settles when it was told to, or that has failed for good. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
  }

  #output({ stream, bytes }: OutputChunk): void {
    if (this.#endReason !== undefined) return
    // A terminal has one stream for both; it is taken for the protocol's.
    if (stream === 'stderr') this.#stderr.push(bytes)
    else this.#stdout.push(bytes)
  }

  #complained(line: string): void {
    this.#lastWords.add(line)
    this.#options.log('info', `MCP server stderr (${this.#options.name}): ${line}`)
  }

  #message(line: Buffer): void {
    if (line.length === 0 || this.#endReason !== undefined) return
    const text = line.toString('utf8')
    if (!isUtf8(line) || !isMessage(text)) {
      this.#lastWords.strayed(text)
      return this.#options.log('debug', `Failed to parse remote MCP server message (${this.#options.name}): ${shown(text)}`)
    }
    this.#lastWords.spoke()
    if (this.#sink !== undefined) return void this.#sink.receive(text)
    this.#earlyChars += text.length
    if (this.#earlyChars > EARLY_CHARS) return this.#fatal(`it said more than ${EARLY_CHARS} characters before anybody listened`)
    this.#early.push(text)
  }

  #ended(end: ProcessEnd): void {
    const { name, log } = this.#options
    switch (end.kind) {
      case 'closed':
      case 'ended':
        return this.#finish(`the server ended${this.#exitCode === undefined ? '' : ` with ${endedBy(this.#exitCode)}`}`)
      case 'failed':
        log('warn', `Remote MCP server process failed (${name}): ${end.message}`)
        return this.#finish(`the process of the server failed: ${end.message}`)
      case 'unread':
        log('warn', `Failed to recover remote MCP server output stream (${name}): ${end.message}`)
        return this.#finish(`the output of the server could not be read: ${end.message}`)
      case 'gap':
        // What follows a gap belongs to another line than what came before it.
        return this.#fatal(
          `remote MCP server output stream lost process events: expected sequence ${end.expected}, received ${end.received}`,
        )
    }
  }

  /** The end of the output: a last line without its newline counts. */
  #finish(reason: string): void {
    this.#stdout.end()
    this.#stderr.end()
    this.#over(`${reason}${this.said()}`)
  }

  /** What was read so far cannot be gone on from. */
  #fatal(reason: string): void {
    if (this.#endReason !== undefined) return
    this.#options.log('warn', `${this.#options.name}: ${reason}`)
    this.#over(reason)
    void this.#close()
  }

  #over(reason: string): void {
    if (this.#endReason !== undefined) return
    this.#stderr.end()
    this.#stdout.drop()
    this.#endReason = reason
    this.#sink?.ended({ code: undefined, reason })
  }

  #close(): Promise<void> {
    this.#closing ??= this.#terminate()
    return this.#closing
  }

  async #terminate(): Promise<void> {
    clearTimeout(this.#opening)
    await this.#writer.end()
    if (this.#process.endInput !== undefined) {
      this.#process.endInput()
      const ended = this.#process.ended.then(() => true)
      if ((await within(ended, this.#options.endInputMs ?? END_INPUT_MS)) === true) return
    }
    const { name, log } = this.#options
    for (let tries = 1; tries <= TERMINATE_TRIES; tries += 1) {
      try {
        await this.#process.terminate()
        return
      } catch (error) {
        log('warn', `Failed to terminate remote MCP server process (${name}): ${messageOf(error)}`)
        await sleep(TERMINATE_PAUSE_MS * tries, undefined, { ref: false })
      }
    }
  }
}

/** How the answers and calls of servers begin. What begins otherwise is looked at as a whole: it may be a stray line. */
const BEGINNINGS = ['{"jsonrpc"', '{"result"', '{"id"', '{"method"']

function isMessage(text: string): boolean {
  if (text.endsWith('}') && BEGINNINGS.some((beginning) => text.startsWith(beginning))) return true
  // What is too much to be parsed is told by whoever listens, who knows which call it answers.
  return beyondBounds(text, FOREIGN_BOUNDS) !== undefined || parseJson(text) !== undefined
}

const SHOWN_CHARS = 200
function shown(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`
}
