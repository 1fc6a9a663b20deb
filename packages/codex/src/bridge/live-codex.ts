import type { Readable } from 'node:stream'
import { LineReader } from '@parley/rpc'
import { type JsonObject, type JsonValue, messageOf, within } from '@parley/protocol/wire'
import { BackendError } from '../port/backend-error.ts'
import { LinePeer, PeerGone } from '@parley/rpc/line-peer'
import type { BridgeLimits } from './bridge-limits.ts'
import type { CodexProcess, StartCodex } from '@parley/contracts'
import type { Dialect, CodexTalk, TalkSink } from './dialect.ts'

/** What Codex writes to stderr in one line is cut beyond this. */
const LOG_LINE_BYTES = 64 * 1024
/** What Codex tells before the greeting is over; more of it is dropped. */
const EARLY_NOTIFICATIONS = 256
/** Between the end of a process, the end of its output, and our hearing of both. */
const EXIT_MS = 250
/** Lines that are no messages: so many are told one by one, and with so many it is taken for something else than Codex. */
const GARBAGE_TOLD = 32
const GARBAGE_MAX = 1_024
/** Of what a Codex wrote that did not come up. */
const WORDS_CHARACTERS = 1_000

/** A Codex that runs and was greeted. */
export interface LiveCodex {
  readonly talk: CodexTalk
  readonly pid: number
  /** False as soon as nothing more will come from it. */
  isUp(): boolean
  /** Settles when it is gone, with what is known about why. */
  readonly gone: Promise<string>
  /** Ends the process, whatever state it is in. */
  stop(graceMs: number): Promise<void>
}

export interface StartOptions {
  readonly start: StartCodex
  readonly client: { readonly name: string; readonly version: string }
  readonly limits: BridgeLimits
  readonly log: (line: string) => void
  readonly warn: (message: string) => void
}

/**
 * It did not come up. `died`: by a signal, so that another try may work at once. `silent`: it did not answer in time, and
 * whoever waits has waited long enough. `foreign`: it ended by itself or speaks something else, and would again.
 */
export class CodexNotUp extends Error {
  readonly why: 'died' | 'silent' | 'foreign'
  constructor(message: string, why: CodexNotUp['why']) {
    super(message)
    this.name = 'CodexNotUp'
    this.why = why
  }
}

/** Starts Codex in one dialect and greets it. Throws `CodexNotUp`, and whatever the port for processes throws. */
export async function startCodex(dialect: Dialect, sink: TalkSink, options: StartOptions): Promise<LiveCodex> {
  const { limits, client } = options
  const child = await options.start(dialect.args)
  followLog(child, options.log)
  const lost = Promise.withResolvers<string>()
  let talk: CodexTalk | undefined
  const early: [method: string, params: JsonObject][] = []
  let garbage = 0
  const babbles = (): boolean => garbage > GARBAGE_MAX
  const peer = new LinePeer({
    input: child.stdout,
    output: child.stdin,
    jsonrpc: dialect.jsonrpc,
    answerMs: limits.answerMs,
    handlers: {
      request: (method, params, id) => answered(talk, method, params, id),
      notified: (method, params) => {
        if (talk !== undefined) talk.notified(method, params)
        else if (early.length < EARLY_NOTIFICATIONS) early.push([method, params])
      },
      garbage: (reason) => {
        garbage += 1
        if (garbage <= GARBAGE_TOLD)
          options.warn(`Codex: ${reason}${garbage === GARBAGE_TOLD ? '; no more of these is told' : ''}`)
        if (!babbles()) return
        lost.resolve(NO_PROTOCOL)
        peer.end(NO_PROTOCOL)
      },
      // Mostly it is ending, and how it does will be known in a moment.
      ended: () => void setTimeout(() => lost.resolve('it closed its output'), EXIT_MS).unref(),
    },
  })
  const exited = child.exited.then(({ code, signal }) => {
    const how = signal === null ? `it ended with code ${code ?? 'unknown'}` : `it was ended by ${signal}`
    lost.resolve(how)
    // A wrapper may be gone while the program behind it still holds the pipes.
    child.stdin.destroy()
    peer.end(how)
    return { how, died: signal !== null }
  })
  const stop = async (graceMs: number): Promise<void> => {
    peer.end('it is being stopped')
    await child.stop(graceMs)
  }
  try {
    talk = await greet(dialect, peer, sink, { client, greetMs: limits.greetMs })
  } catch (error) {
    const message = messageOf(error)
    const silent = error instanceof GreetingLate
    await stop(silent ? 0 : limits.stopGraceMs)
    const { how, died } = await exited
    await closedOr(child.stderr, EXIT_MS)
    const words = child
      .stderrTail()
      .trim()
      .replaceAll(/\s*\n\s*/g, ' | ')
      .slice(-WORDS_CHARACTERS)
    const hint = words === '' ? '' : `; it said: ${words}`
    const gone = error instanceof PeerGone && !babbles()
    const why = silent ? 'silent' : gone && died ? 'died' : 'foreign'
    throw new CodexNotUp(`Codex did not come up: ${gone ? how : message}${hint}`, why)
  }
  for (const [method, params] of early) talk.notified(method, params)
  return { talk, pid: child.pid, isUp: () => !peer.isGone, gone: lost.promise, stop }
}

const NO_PROTOCOL = 'what it says is no protocol'

class GreetingLate extends Error {}

async function greet(
  dialect: Dialect,
  peer: LinePeer,
  sink: TalkSink,
  { client, greetMs }: { client: StartOptions['client']; greetMs: number },
): Promise<CodexTalk> {
  const talk = await within(dialect.greet(peer, sink, client), greetMs)
  if (talk === undefined) throw new GreetingLate(`it did not say hello within ${greetMs} ms`)
  return talk
}

/** Before the greeting is over nobody can decide anything. */
function answered(talk: CodexTalk | undefined, method: string, params: JsonObject, id: string | number): Promise<JsonValue> {
  if (talk === undefined) throw new BackendError('failed', `${method} came before the greeting`)
  return talk.request(method, params, id)
}

function closedOr(stream: Readable, ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed || stream.readableEnded) return resolve()
    const timer = setTimeout(resolve, ms)
    stream.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function followLog(child: CodexProcess, log: (line: string) => void): void {
  const lines = new LineReader(LOG_LINE_BYTES, { line: log, fault: () => undefined })
  child.stderr.on('data', (chunk: Buffer) => lines.push(chunk))
  child.stderr.on('error', () => undefined)
}
