import { isJsonObject, type JsonObject, type JsonValue } from '@parley/protocol'
import { type FrameLink, FramePeer } from '@parley/rpc/frame'
import { CODE, refusal } from '../api/error-code.ts'
import { InitializeParams, paramsOf, ProcessEndInputParams, ProcessTakenParams } from '../api/params.ts'
import { AnswerLine, type InTurn } from './answer-line.ts'
import { environmentInfo, type Whereabouts } from './environment.ts'
import type { FileMethods } from './file/file-methods.ts'
import { PROCESS_METHODS } from './process-methods.ts'
import type { ServerLimits } from './server-limits.ts'
import type { Session } from './session.ts'
import { type BytesUnderWay, UnderWay } from './under-way.ts'

export interface ConnectionOptions {
  readonly link: FrameLink
  readonly limits: ServerLimits
  readonly where: Whereabouts
  readonly files: FileMethods
  readonly allUnderWay: BytesUnderWay
  readonly log: (message: string) => void
  /** A new session, or the one that is to be resumed. Throws a refusal. */
  readonly sessionFor: (asked: { readonly resumeSessionId?: string; readonly detachMs?: number }) => Session
  readonly onEnd: () => void
}

/** One client's connection. States: new → `initialize` → `initialized` → ended. Nothing that comes in ends it. */
export class ServedLink {
  readonly #options: ConnectionOptions
  readonly #peer: FramePeer
  #session: Session | undefined
  #isInitialized = false
  readonly #underWay: UnderWay
  readonly #answers: AnswerLine
  readonly #ending = new AbortController()
  /** The length of the text that is being taken in: a request is handed in before the next text is seen. */
  #textChars = 0

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#underWay = new UnderWay(options.limits, options.allUnderWay)
    this.#peer = new FramePeer({
      link: options.link,
      jsonrpc: false,
      bounds: options.limits,
      handlers: {
        seen: (text) => {
          this.#textChars = text.length
          return false
        },
        request: (method, params) => this.#request(method, params),
        notified: (method, params) => this.#notified(method, params),
        garbage: (reason, value) => this.#garbage(reason, value),
        ended: () => this.#ended(),
      },
    })
    this.#answers = new AnswerLine(this.#peer, options.limits.pushAheadBytes)
  }

  async #request(method: string, params: JsonObject): Promise<JsonValue> {
    const leave = this.#underWay.enter(method, this.#textChars, this.#session?.underWay)
    try {
      return await this.#serve(method, params)
    } finally {
      leave()
    }
  }

  async #serve(method: string, params: JsonObject): Promise<JsonValue> {
    const { where, files } = this.#options
    if (method === 'initialize') return this.#initialize(params)
    const onProcess = PROCESS_METHODS.get(method)
    const onFile = files.get(method)
    const { signal } = this.#ending
    const inTurn: InTurn = (make) => this.#answers.inTurn(make)
    if (onProcess !== undefined) return onProcess(this.#ready(method), params, { base: where.env, signal, inTurn })
    if (onFile !== undefined)
      return this.#ready(method) && (LARGE_ANSWERS.has(method) ? inTurn(() => onFile(params)) : onFile(params))
    if (method === 'environment/info') return this.#ready(method) && environmentInfo(where)
    if (method === 'environment/status') return this.#ready(method) && { status: 'ready' }
    throw refusal('methodNotFound', `this executor does not implement \`${method}\``)
  }

  #initialize(params: JsonObject): JsonValue {
    if (this.#session !== undefined) throw refusal('invalidRequest', 'initialize may only be sent once per connection')
    const { resumeSessionId, detachMs, takeOver } = paramsOf(InitializeParams, params)
    const session = this.#options.sessionFor({
      ...(typeof resumeSessionId === 'string' ? { resumeSessionId } : {}),
      ...(typeof detachMs === 'number' ? { detachMs } : {}),
    })
    session.attach(this.#peer, {
      takesOver: takeOver === true,
      taken: () => this.#options.link.close('its client has come back on another connection'),
    })
    this.#session = session
    return { sessionId: session.id, environmentInfo: environmentInfo(this.#options.where) }
  }

  /** The session of a client that has said both of its first words. */
  #ready(method: string): Session {
    const kind = KINDS.find(([prefix]) => method.startsWith(prefix))?.[1] ?? 'exec'
    if (this.#session === undefined) throw refusal('invalidRequest', `client must call initialize before using ${kind} methods`)
    if (!this.#isInitialized) throw refusal('invalidRequest', `client must send initialized before using ${kind} methods`)
    return this.#session
  }

  #notified(method: string, params: JsonObject): void {
    if (method === 'initialized' && this.#session !== undefined) {
      this.#isInitialized = true
      if (params['outputFrames'] === true) this.#session.takesFrames()
    } else if (this.#session === undefined || !this.#hint(this.#session, method, params))
      this.#options.log(`a notification was passed over: ${JSON.stringify(method.slice(0, SHOWN_CHARS))}`)
  }

  /** Notifications of our own clients; answers whether it was one. */
  #hint(session: Session, method: string, params: JsonObject): boolean {
    const taken = method === 'process/taken' ? ProcessTakenParams.safeParse(params).data : undefined
    const ended = method === 'process/endInput' ? ProcessEndInputParams.safeParse(params).data : undefined
    if (taken !== undefined) session.taken(taken.processId, taken.seq)
    const process = ended === undefined ? undefined : session.process(ended.processId)
    if (process !== undefined && process !== 'starting') process.endInput?.()
    return taken !== undefined || ended !== undefined
  }

  /** As the real one answers what it cannot read; an answer that nobody waits for is passed over. */
  #garbage(reason: string, value: JsonValue | undefined): void {
    this.#options.log(`a message was passed over: ${reason}`)
    if (isJsonObject(value) && !('method' in value)) return
    const error = { code: CODE.invalidRequest, message: `failed to parse JSON-RPC message: ${reason}` }
    this.#peer.sendText(JSON.stringify({ error, id: UNKNOWN_ID }))
  }

  #ended(): void {
    // A read that waits for output would wait on, for nobody.
    this.#ending.abort()
    this.#session?.detach(this.#peer)
    this.#options.onEnd()
  }
}

/** Of `fs/*`: those that answer with more than a few words. */
const LARGE_ANSWERS: ReadonlySet<string> = new Set(['fs/readFile', 'fs/readDirectory'])
const UNKNOWN_ID = -1
const SHOWN_CHARS = 80
const KINDS = [
  ['environment/', 'environment status'],
  ['fs/', 'filesystem'],
] as const
