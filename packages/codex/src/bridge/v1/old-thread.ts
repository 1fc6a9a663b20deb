import type { ApprovalDecision, ApprovalRequest, InputPart } from '@parley/agent'
import type { JsonObject, JsonValue } from '@parley/protocol'
import type { OpenOrder, TurnOrder } from '../../port/order.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import type { OpenedThread, TalkSink } from '../dialect.ts'
import type { OpeningSettings } from './opening-settings.ts'
import type { SandboxTag } from './sandbox-params.ts'
import { TurnReader } from './turn-reader.ts'
import { hasOverrides, itemsOf, turnParams } from './turn-params.ts'

export interface OldThreadOptions {
  readonly opened: OpenedThread
  readonly order: OpenOrder
  readonly sink: TalkSink
  readonly ask: (method: string, params?: JsonObject) => Promise<JsonValue>
  readonly settings: OpeningSettings
  readonly tag: SandboxTag
}

const SCHEMA_WARNING = 'this version of Codex cannot hold a model to a schema: the schema is added to the input'

/** One conversation that is open in Codex. */
export class OldThread {
  readonly #options: OldThreadOptions
  readonly reader: TurnReader
  /** What Codex calls our listening. */
  subscription: string | undefined
  /** Fires when nothing of the turn under way waits any more. */
  #turnOver = new AbortController()
  /** Approvals of the turn that wait, or that were answered with an abort. */
  #asked = 0
  /** Codex may have settings that are not those of the conversation: a turn leaves its own behind. */
  #hasStrayed = false
  /** What was added to the turn goes to Codex in the order in which it came. */
  #adding: Promise<unknown> = Promise.resolve()
  /** Those who wait for something to happen in the turn. */
  readonly #watchers = new Set<() => void>()
  #warnedOfSchema = false
  #instructions: string | undefined

  constructor(options: OldThreadOptions) {
    this.#options = options
    const { opened, order, sink } = options
    this.#instructions = opened.initialMessages.length === 0 ? order.developerInstructions : undefined
    this.reader = new TurnReader(
      {
        event: (event) => {
          sink.event(opened.id, event)
          this.#moved()
        },
        ended: (end) => {
          this.#turnOver.abort()
          this.#moved()
          sink.ended(opened.id, end)
        },
        stray: () => this.#stop(),
      },
      {
        required: (order.mounts ?? []).flatMap(({ name, required }) => (required ? [name] : [])),
        initialMessages: opened.initialMessages,
      },
    )
  }

  async startTurn(order: TurnOrder): Promise<string> {
    const { opened, ask, tag } = this.#options
    const conversationId = opened.id
    const turn = this.reader.begin()
    this.#turnOver = new AbortController()
    this.#asked = 0
    try {
      const strays = hasOverrides(order)
      const settings = strays || this.#hasStrayed ? turnParams(order, await this.#options.settings.known(), tag) : undefined
      const items = itemsOf([...this.#preface(), ...order.input, ...this.#schemaPart(order.outputSchema)])
      if (settings === undefined) await ask('sendUserMessage', { conversationId, items })
      else await this.#takeTurn({ conversationId, items, ...settings }, strays)
      return turn
    } catch (error) {
      this.reader.cancel()
      throw error
    }
  }

  /**
   * Codex drops what comes while a turn gives its last answer. While something is being called another request follows
   * for certain, and it reads what came before it: so input waits for a call. False: the turn ended without one.
   */
  steer(input: readonly InputPart[], over: AbortSignal): Promise<boolean> {
    const { turn } = this.reader
    const isOver = (): boolean => over.aborted || !this.reader.isBusy || this.reader.turn !== turn
    const added = this.#adding.then(async () => {
      while (!isOver() && this.#asked === 0 && !this.reader.calls.hasOpen) await this.#nextMove(over)
      if (isOver()) return false
      await this.#options.ask('sendUserMessage', { conversationId: this.#options.opened.id, items: itemsOf(input) })
      return true
    })
    this.#adding = added.catch(() => undefined)
    return added
  }

  async interrupt(): Promise<void> {
    if (!this.reader.isBusy) return
    // Whoever is asked answers `abort` now, and that cuts the turn short. Asked to interrupt as well, Codex could do both,
    // one after the other, and the second would hit the next turn.
    this.#turnOver.abort()
    if (this.#asked > 0) return this.reader.over()
    // A turn that ends by itself at this moment leaves the request without an answer.
    const asked = this.#options.ask('interruptConversation', { conversationId: this.#options.opened.id })
    await Promise.race([asked, this.reader.over()])
  }

  async approve(request: ApprovalRequest): Promise<ApprovalDecision> {
    const { opened, sink } = this.#options
    const turn = this.reader.turn
    this.#asked += 1
    this.#moved()
    const decision = await sink.approve(opened.id, request, this.#turnOver.signal).catch((): ApprovalDecision => 'denied')
    // An answer after the end of its turn must not touch the next one, which an abort would.
    if (!this.reader.isBusy || this.reader.turn !== turn) return 'denied'
    // An abort ends the turn: until then nothing else is asked for it.
    if (decision !== 'abort') this.#asked -= 1
    if (decision === 'denied' || decision === 'abort') this.#tellDeclined(request)
    return decision
  }

  /** Nobody listens any more. */
  abandon(): void {
    this.#turnOver.abort()
    if (this.reader.isBusy) this.#stop()
  }

  #tellDeclined(request: ApprovalRequest): void {
    const { call } = request
    if (request.kind === 'command') this.reader.calls.declined(call, (calls) => calls.command(call, request.argv, request.folder))
    else if (request.kind === 'patch') this.reader.calls.declined(call, (calls) => calls.patch(call, request.changes))
  }

  /** Ends a turn that nobody owns, without waiting: it may be over already. */
  #stop(): void {
    const { ask, opened } = this.#options
    ask('interruptConversation', { conversationId: opened.id }).catch(() => undefined)
  }

  /** What a turn sets is left behind in Codex, so every later one says what holds for it. One that Codex refused sets nothing. */
  async #takeTurn(params: JsonObject, strays: boolean): Promise<void> {
    const hadStrayed = this.#hasStrayed
    this.#hasStrayed ||= strays
    try {
      await this.#options.ask('sendUserTurn', params)
    } catch (error) {
      if (error instanceof RemoteFailure) this.#hasStrayed = hadStrayed
      throw error
    }
  }

  #moved(): void {
    for (const wake of [...this.#watchers]) wake()
  }

  #nextMove(over: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#watchers.delete(wake)
        over.removeEventListener('abort', wake)
        resolve()
      }
      this.#watchers.add(wake)
      over.addEventListener('abort', wake, { once: true })
    })
  }

  /** Instructions of the developer have no place of their own in these versions: they stand before the first input. */
  #preface(): readonly InputPart[] {
    const text = this.#instructions
    this.#instructions = undefined
    return text === undefined ? [] : [{ type: 'text', text }]
  }

  #schemaPart(schema: JsonObject | undefined): readonly InputPart[] {
    if (schema === undefined) return []
    if (!this.#warnedOfSchema) this.reader.emit({ type: 'warning', message: SCHEMA_WARNING })
    this.#warnedOfSchema = true
    const text = `Your last message must be one JSON document of this schema, and nothing else:\n${JSON.stringify(schema)}`
    return [{ type: 'text', text }]
  }
}
