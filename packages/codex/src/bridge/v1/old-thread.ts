import type { ApprovalDecision, ApprovalRequest, InputPart } from '@parley/agent'
import type { JsonObject, JsonValue } from '@parley/protocol'
import type { OpenOrder, TurnOrder } from '../../order.ts'
import type { OpenedThread, TalkSink } from '../dialect.ts'
import { TurnReader } from './turn-reader.ts'
import { type TurnDefaults, defaultsOf, hasOverrides, itemsOf, turnParams } from './turn-params.ts'

export interface OldThreadOptions {
  readonly opened: OpenedThread
  readonly order: OpenOrder
  readonly sink: TalkSink
  readonly ask: (method: string, params?: JsonObject) => Promise<JsonValue>
  /** The user's configuration. */
  readonly saved: () => Promise<JsonObject>
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
  #defaults: TurnDefaults | undefined
  #hasStrayed = false
  #warnedOfSchema = false
  #instructions: string | undefined

  constructor(options: OldThreadOptions) {
    this.#options = options
    const { opened, order, sink } = options
    this.#instructions = opened.initialMessages.length === 0 ? order.developerInstructions : undefined
    this.reader = new TurnReader(
      {
        event: (event) => sink.event(opened.id, event),
        ended: (end) => {
          this.#turnOver.abort()
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
    const { opened, ask } = this.#options
    const conversationId = opened.id
    const turn = this.reader.begin()
    this.#turnOver = new AbortController()
    this.#asked = 0
    try {
      // A turn with settings of its own may leave them behind, so every later one says what holds for it.
      this.#hasStrayed ||= hasOverrides(order)
      const settings = this.#hasStrayed ? turnParams(order, await this.#loadDefaults()) : undefined
      const items = itemsOf([...this.#preface(), ...order.input, ...this.#schemaPart(order.outputSchema)])
      if (settings === undefined) await ask('sendUserMessage', { conversationId, items })
      else await ask('sendUserTurn', { conversationId, items, ...settings })
      return turn
    } catch (error) {
      this.reader.cancel()
      throw error
    }
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

  async #loadDefaults(): Promise<TurnDefaults> {
    const { order, opened, saved } = this.#options
    this.#defaults ??= defaultsOf(order, opened, await saved())
    return this.#defaults
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
