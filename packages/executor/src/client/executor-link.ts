import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject, type JsonObject, type JsonValue, messageOf } from '@parley/protocol'
import { type FrameLink, FramePeer, PeerGone, RemoteFailure, WireError } from '@parley/rpc/frame'
import { z } from 'zod'
import { CODE } from '../api/error-code.ts'
import { ExecutorLost } from './executor-lost.ts'

/** How long we try to come back: less than the 30 s for which a server keeps what we started. */
const RECOVERY_MS = 25_000
/** How long we try to come in where a gateway says that the executor will be there again: it has just left, or the gateway has just come. */
const OPENING_MS = 10_000
/** Between tries; doubled each time up to the second. */
const RETRY_MS = 20
const RETRY_MAX_MS = 1_000
/** A server that does not answer for this long is not there, whatever its socket says. */
const ANSWER_MS = 60_000
const HANDSHAKE_MS = 10_000
/** A connection that lasted for so long was one, also where nothing was to be said on it. */
const LASTING_MS = 5_000
/** A request whose answer ends the connection each time would be sent for ever. */
const SENT_MAX = 64

const Initialized = z.object({ sessionId: z.string().min(1), environmentInfo: z.looseObject({}).nullish() })

export interface ExecutorLinkOptions {
  readonly dial: () => Promise<FrameLink>
  readonly clientName: string
  /** How long the server is to keep our processes without us; left out, as it does by itself. */
  readonly detachMs?: number
  /** Whether another connection can take up what this one began. Not on a pipe. */
  readonly resumes: boolean
  readonly recoveryMs?: number
  /** Sees each text first; true says that it has been dealt with. */
  readonly seen: (text: string) => boolean
  /** Output that came as bytes. */
  readonly frame: (parts: readonly Buffer[]) => void
  readonly notified: (method: string, params: JsonObject) => void
  /** The connection is gone: what comes on the next may not follow what came on this one. */
  readonly cut: () => void
  /** The connection is new and the session is the old one: something may have been missed. */
  readonly resumed: () => void
  readonly lost: (error: ExecutorLost) => void
  readonly log: (message: string) => void
}

/**
 * A session with an exec-server that outlives its connections. States: connected ⇄ coming back, and lost, from which nothing leads
 * away. A request that was under way when a connection was cut is sent again on the next, with the same parameters.
 */
export class ExecutorLink {
  readonly #options: ExecutorLinkOptions
  #peer: Promise<FramePeer>
  /** The one that has shaken hands last. */
  #current: FramePeer | undefined
  #link: FrameLink | undefined
  #sessionId: string | undefined
  #info: JsonObject = {}
  #lost: ExecutorLost | undefined
  #isComingBack = false
  /** Since when no connection has lasted, or said anything but the first word. */
  #awaySince: number | undefined
  #connectedAt = 0

  private constructor(options: ExecutorLinkOptions) {
    this.#options = options
    this.#peer = this.#connectFirst()
    this.#peer.catch(() => undefined)
  }

  /** Connects and opens a session. Throws what kept it from that. */
  static async open(options: ExecutorLinkOptions): Promise<ExecutorLink> {
    const link = new ExecutorLink(options)
    await link.#peer
    return link
  }

  /** What the server says of itself. */
  get info(): JsonObject {
    return this.#info
  }
  get isLost(): boolean {
    return this.#lost !== undefined
  }
  /** Whether the server says that it can do this. */
  can(capability: string): boolean {
    const { capabilities } = this.#info
    return isJsonObject(capabilities) && capabilities[capability] === true
  }

  /** `again` says that an answer to it may have been lost with an earlier connection. */
  async ask(
    method: string,
    params: JsonObject,
    { waitMs = 0, signal }: { readonly waitMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<{ readonly answer: JsonValue; readonly again: boolean }> {
    const how = { timeoutMs: ANSWER_MS + waitMs, ...(signal === undefined ? {} : { signal }) }
    for (let sent = 1; ; sent += 1) {
      const peer = await this.#peer
      try {
        return { answer: await peer.ask(method, params, how), again: sent > 1 }
      } catch (error) {
        if (error instanceof RemoteFailure) throw sent > 1 ? new FailedAgain(error) : error
        if (!(error instanceof PeerGone) || !peer.isGone) throw error
        if (sent >= SENT_MAX) throw this.#endWith(`the connection was cut ${sent} times while ${method} was under way`)
      }
    }
  }

  /** Lost with the connection if that is cut. */
  tell(method: string, params: JsonObject): void {
    void this.#peer.then(
      (peer) => peer.tell(method, params),
      () => undefined,
    )
  }

  /** Ends it for good. */
  close(reason: string): void {
    this.#endWith(reason)
  }

  #endWith(reason: string): ExecutorLost {
    const loss = this.#lose(new ExecutorLost(reason))
    this.#link?.close()
    return loss
  }

  async #connectFirst(): Promise<FramePeer> {
    const until = performance.now() + OPENING_MS
    for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS)) {
      try {
        return await this.#connect()
      } catch (error) {
        const isComing = isSoonThere(error) || (this.#canResume && error instanceof PeerGone)
        if (this.#lost !== undefined || !isComing || performance.now() > until) throw error
      }
      await sleep(pauseMs)
    }
  }

  async #connect(): Promise<FramePeer> {
    const link = await this.#options.dial()
    const peer: FramePeer = new FramePeer({
      link,
      jsonrpc: false,
      answerMs: ANSWER_MS,
      handlers: {
        request: (method) => {
          throw new RemoteFailure(CODE.methodNotFound, `${method} is not served here`)
        },
        seen: (text) => this.#seen(peer, text),
        bytes: (parts) => {
          this.#heard(peer)
          this.#options.frame(parts)
        },
        notified: (method, params) => this.#options.notified(method, params),
        garbage: (reason) => this.#options.log(`the executor sent something that was passed over: ${reason}`),
        ended: () => this.#cut(peer),
      },
    })
    if (this.#lost !== undefined) {
      link.close()
      throw this.#lost
    }
    this.#link = link
    try {
      await this.#handshake(peer)
    } catch (error) {
      link.close()
      throw error
    }
    // It may have ended together with its first word. Nobody would hear of that any more.
    if (peer.isGone) throw new PeerGone('the connection ended right after it was opened')
    this.#current = peer
    this.#connectedAt = performance.now()
    return peer
  }

  #seen(peer: FramePeer, text: string): boolean {
    this.#heard(peer)
    return this.#options.seen(text)
  }

  #heard(peer: FramePeer): void {
    if (peer === this.#current) this.#awaySince = undefined
  }

  get #canResume(): boolean {
    return this.#options.resumes && this.#sessionId !== undefined
  }

  async #handshake(peer: FramePeer): Promise<void> {
    const { clientName, detachMs } = this.#options
    const answer = await peer.ask(
      'initialize',
      {
        clientName,
        resumeSessionId: this.#sessionId ?? null,
        // Our own connection is gone, whether or not the server has noticed.
        ...(this.#canResume && this.can('takeOver') ? { takeOver: true } : {}),
        ...(detachMs === undefined ? {} : { detachMs }),
      },
      { timeoutMs: HANDSHAKE_MS },
    )
    const { sessionId } = Initialized.parse(answer)
    this.#sessionId = sessionId
    if (isJsonObject(answer) && isJsonObject(answer['environmentInfo'])) this.#info = answer['environmentInfo']
    peer.tell('initialized', peer.hasBytes && this.can('outputFrames') ? { outputFrames: true } : {})
  }

  /** The connection of this peer is gone. One that never was is `#connect`'s own business. */
  #cut(peer: FramePeer): void {
    if (this.#lost !== undefined || this.#isComingBack || peer !== this.#current) return
    this.#options.cut()
    if (performance.now() - this.#connectedAt > LASTING_MS) this.#awaySince = undefined
    this.#peer = this.#options.resumes ? this.#comeBack() : this.#failing(new ExecutorLost('its pipe ended'))
    this.#peer.catch(() => undefined)
  }

  async #comeBack(): Promise<FramePeer> {
    this.#isComingBack = true
    try {
      return await this.#tryAgain()
    } finally {
      this.#isComingBack = false
    }
  }

  async #tryAgain(): Promise<FramePeer> {
    const { recoveryMs = RECOVERY_MS, log } = this.#options
    const isAgain = this.#awaySince !== undefined
    this.#awaySince ??= performance.now()
    const until = this.#awaySince + recoveryMs
    // One that was cut before it said anything is not dialled again at once.
    if (isAgain) await sleep(Math.min(RETRY_MAX_MS, recoveryMs), undefined, { ref: false })
    let isToldAway = false
    for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS)) {
      try {
        if (isAgain && performance.now() > until) throw new PeerGone('no connection lasts')
        const peer = await this.#connect()
        if (isToldAway) log('the executor is back')
        setImmediate(() => this.#options.resumed())
        return peer
      } catch (error) {
        if (this.#lost !== undefined) throw this.#lost
        const reason = messageOf(error)
        if (isFinal(error) || performance.now() > until) {
          log(`the executor is given up: ${reason}`)
          throw this.#lose(new ExecutorLost(reason))
        }
        // Once: who waits for it learns nothing from hearing it for each try.
        if (!isToldAway) log(`the executor is away, trying again: ${reason}`)
        isToldAway = true
      }
      await sleep(pauseMs, undefined, { ref: false })
    }
  }

  #lose(loss: ExecutorLost): ExecutorLost {
    if (this.#lost !== undefined) return this.#lost
    this.#lost = loss
    this.#peer = this.#failing(loss)
    this.#peer.catch(() => undefined)
    this.#options.lost(loss)
    return loss
  }

  async #failing(loss: ExecutorLost): Promise<never> {
    throw this.#lose(loss)
  }
}

/** An error in answer to a request that was sent again: the first one may have been carried out. */
export class FailedAgain extends RemoteFailure {
  constructor({ code, message, data }: RemoteFailure) {
    super(code, message, data)
    this.name = 'FailedAgain'
  }
}

/** A gateway whose executor is not connected to it now. */
function isSoonThere(error: unknown): boolean {
  return error instanceof WireError && error.status === 503
}

/** The server is there and does not know us or the session any more. That another connection holds it ends when that is noticed to be gone. */
function isFinal(error: unknown): boolean {
  if (error instanceof WireError) return error.code === 'unauthorized'
  return error instanceof RemoteFailure && error.code !== CODE.sessionAttached
}
