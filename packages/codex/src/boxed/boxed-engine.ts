import {
  type Conversation,
  type ConversationListener,
  type ConversationOptions,
  ConversationUnknown,
  type Engine,
  type Transcripts,
} from '@parley/agent'
import { CarryingListener, RolloutCarrier, carriedConversation } from './carried-conversation.ts'
import type { CodexHome } from './codex-home.ts'

export interface BoxedEngineOptions {
  /** The Codex in the box. */
  readonly engine: Engine
  readonly home: CodexHome
  /** Where another judge finds what was said. */
  readonly transcripts: Transcripts
  readonly warn: (message: string) => void
  /** Ends what belongs to the box, after the engine. */
  readonly close: () => Promise<void>
}

/** A Codex in a box, with what it says carried to where another judge finds it. */
export function boxedEngine(options: BoxedEngineOptions): Engine {
  return new BoxedEngine(options)
}

class BoxedEngine implements Engine {
  readonly name = 'codex'
  readonly #options: BoxedEngineOptions
  readonly #carriers = new Set<RolloutCarrier>()

  constructor(options: BoxedEngineOptions) {
    this.#options = options
  }

  async open(options: ConversationOptions, listener: ConversationListener): Promise<Conversation> {
    const { engine, home, transcripts } = this.#options
    const hearing = new CarryingListener(listener)
    const conversation = await engine.open(inBox(options), hearing)
    return this.#carried(conversation, hearing, await RolloutCarrier.create(home.folder, conversation.id, transcripts))
  }

  async resume(id: string, options: ConversationOptions, listener: ConversationListener): Promise<Conversation> {
    const { engine, home, transcripts } = this.#options
    const carrier = await RolloutCarrier.restore(home, id, transcripts)
    if (carrier === undefined) throw new ConversationUnknown(id)
    const hearing = new CarryingListener(listener)
    return this.#carried(await engine.resume(id, inBox(options), hearing), hearing, carrier)
  }

  async close(): Promise<void> {
    const { engine, close, warn } = this.#options
    await engine.close()
    await close()
    for (const carrier of this.#carriers)
      await carrier.finish().catch((error: unknown) => warn(`the end of a conversation is not kept: ${String(error)}`))
  }

  #carried(conversation: Conversation, listener: CarryingListener, carrier: RolloutCarrier): Conversation {
    this.#carriers.add(carrier)
    return carriedConversation(conversation, { carrier, listener, warn: this.#options.warn })
  }
}

/** The box holds what Codex does; a sandbox of its own inside could not be made. */
const inBox = (options: ConversationOptions): ConversationOptions => ({ ...options, reach: 'full-access', network: true })
