import { ConversationClosed, type TurnEnd } from '@parley/agent'
import { type JsonObject, RpcError, messageOf } from '@parley/protocol'
import type { Call, ServiceResult } from '@parley/rpc'
import type { Backend } from '../backend/backend.ts'
import { checkParams, invalidParams } from '@parley/contracts/params'
import { parseVersion } from '@parley/contracts/version'
import { Conversations } from '../conversation/conversations.ts'
import type { OpenConversation } from '../conversation/open-conversation.ts'
import { openTranslator } from '../event/open-translator.ts'
import type { EventDialect } from '../event/translator.ts'
import { type CallPort, legacyPort } from './call-port.ts'
import { FACTS as NEWER } from './0.153/facts.ts'
import { FACTS as OLDER } from './0.44/facts.ts'
import type { DialectFacts } from './dialect-facts.ts'
import { EventOutbox, type ToldCall } from './event-outbox.ts'
import type { McpServerLimits, McpServerOptions } from './mcp-server-options.ts'
import { ModernCalls } from './modern-calls.ts'
import { foreignArguments, readCodexArguments, readReplyArguments } from './tool-arguments.ts'
import { CANCELLED, textOf, TurnCall } from './turn-call.ts'

const DIALECTS: Readonly<Record<EventDialect, DialectFacts>> = { '0.44': OLDER, '0.153': NEWER }

const LIMITS: McpServerLimits = {
  openConversations: 60,
  waitingReplies: 16,
  laggingBytes: 4 * 1024 * 1024,
  cancelMs: 5_000,
  closeMs: 1_500,
  parkedMs: 10 * 60_000,
}

/** The two tools at work. Loaded at the first call of one. */
export interface Tools {
  call(name: string, args: JsonObject | undefined, call: Call): Promise<ServiceResult>
  close(): Promise<void>
}

export function openTools(options: McpServerOptions): Tools {
  return new CodexTools(options)
}

class CodexTools implements Tools {
  readonly #options: McpServerOptions
  readonly #dialect: DialectFacts
  readonly #limits: McpServerLimits
  readonly #conversations: Conversations
  readonly #outboxes = new WeakMap<OpenConversation, EventOutbox>()
  readonly #modern: ModernCalls

  constructor(options: McpServerOptions) {
    const { dialect, backend, conversations, log } = options
    this.#options = options
    this.#dialect = DIALECTS[dialect]
    this.#limits = { ...LIMITS, ...options.limits }
    this.#conversations = conversations ?? new Conversations({ backend, openMax: this.#limits.openConversations, log })
    this.#modern = new ModernCalls(this.#limits.openConversations, this.#limits.parkedMs)
  }

  async call(name: string, args: JsonObject | undefined, call: Call): Promise<ServiceResult> {
    const run = (port: CallPort): Promise<JsonObject> => this.#run(name, args, port)
    return call.era === 'modern' ? this.#modern.call(call, run) : run(legacyPort(call))
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#options.log('warn', `the engine has not ended after ${this.#limits.closeMs} ms`)
      resolve()
    }, this.#limits.closeMs)
    await Promise.race([this.#options.backend.close(), promise])
    clearTimeout(timer)
  }

  async #run(name: string, args: JsonObject | undefined, port: CallPort): Promise<JsonObject> {
    if (name !== 'codex' && name !== 'codex-reply') return this.#failed(`Unknown tool '${name}'`)
    if (args !== undefined) {
      for (const words of foreignArguments(name, args, this.#dialect))
        this.#options.log('info', `${name}: ${words} is of another version of Codex than ${this.#options.dialect}, and is taken`)
    }
    return name === 'codex' ? this.#begin(args, port) : this.#reply(args, port)
  }

  async #begin(args: JsonObject | undefined, port: CallPort): Promise<JsonObject> {
    const { folder, defaults = {} } = this.#options
    const read = readCodexArguments(args, { dialect: this.#dialect, folder, defaults })
    if ('fault' in read) return this.#failed(read.fault)
    let conversation: OpenConversation
    try {
      refuseLacking(args, await this.#options.backend.get())
      conversation = await this.#conversations.open(read.ok.order)
    } catch (error) {
      if (error instanceof RpcError) throw error
      return this.#failed(openFault(error))
    }
    return this.#take(conversation, { port, prompt: read.ok.prompt, isReply: false })
  }

  async #reply(args: JsonObject | undefined, port: CallPort): Promise<JsonObject> {
    const read = readReplyArguments(args, this.#dialect)
    if ('fault' in read) return this.#failed(read.fault)
    const { threadId, prompt } = read.ok
    for (let isRetry = false; ; isRetry = true) {
      let conversation: OpenConversation
      try {
        conversation = await this.#conversations.find(threadId, this.#options.defaults ?? {})
      } catch (error) {
        return this.#failed(findFault(error, threadId, this.#dialect), threadId)
      }
      if (conversation.waiting >= this.#limits.waitingReplies)
        return this.#failed(`${this.#limits.waitingReplies} replies wait for their turn in this conversation already`, threadId)
      try {
        return await this.#take(conversation, { port, prompt, isReply: true })
      } catch (error) {
        if (isRetry || codeOf(error) !== 'conversation_closed') return this.#failed(messageOf(error), threadId)
        // By somebody else: the next who asks for it gets it resumed.
        await this.#conversations.close(conversation)
      }
    }
  }

  /** Waits for its turn, and runs it. */
  async #take(conversation: OpenConversation, asked: ToldCall & { readonly port: CallPort }): Promise<JsonObject> {
    const { id } = conversation.backed
    const { port, prompt } = asked
    const { log, whenUnanswerable = 'deny', answerMs } = this.#options
    const outbox = this.#outboxOf(conversation)
    const call = new TurnCall({ conversation, port, outbox, dialect: this.#dialect, whenUnanswerable, answerMs, log })
    const order = { input: [{ type: 'text', text: prompt } as const] }
    const begun = await conversation.take({ by: call, order, begins: () => outbox.begins(asked), signal: port.signal })
    if (begun === undefined) {
      if (!port.signal.aborted) throw new ConversationClosed(id)
      return this.#failed('The call was cancelled before its turn began.', id)
    }
    const end = await this.#ended(conversation, begun.ended, port.signal)
    // Whoever comes next must wait for it; this one need not.
    if (end === 'overdue') return this.#failed(CANCELLED, id)
    await outbox.flushed()
    const { text, isError } = textOf(end, port.signal.aborted)
    return isError ? this.#failed(text, id) : { ...this.#dialect.structured(id, text), content: [{ type: 'text', text }] }
  }

  /** How the turn ended. A cancelled one is interrupted, and not waited for beyond a bound. */
  async #ended(conversation: OpenConversation, ended: Promise<TurnEnd>, signal: AbortSignal): Promise<TurnEnd | 'overdue'> {
    const { promise: overdue, resolve } = Promise.withResolvers<'overdue'>()
    let timer: NodeJS.Timeout | undefined
    const interrupt = (): void => {
      timer = setTimeout(resolve, this.#limits.cancelMs, 'overdue')
      timer.unref()
      conversation.backed.interrupt().catch((error: unknown) => this.#options.log('warn', `interrupt: ${messageOf(error)}`))
    }
    if (signal.aborted) interrupt()
    else signal.addEventListener('abort', interrupt, { once: true })
    try {
      return await Promise.race([ended, overdue])
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', interrupt)
    }
  }

  /** A failure is a result, too, and says so in every dialect. */
  #failed(text: string, threadId?: string): JsonObject {
    const structured = threadId === undefined ? {} : this.#dialect.structured(threadId, text)
    return { isError: true, content: [{ type: 'text', text }], ...structured }
  }

  #outboxOf(conversation: OpenConversation): EventOutbox {
    const { backed, order } = conversation
    const known = this.#outboxes.get(conversation)
    if (known !== undefined) return known
    const outbox = new EventOutbox({
      threadId: backed.id,
      dialect: this.#dialect,
      openTranslator: (later) => openTranslator(this.#options.dialect, backed, { order, later }),
      laggingBytes: this.#limits.laggingBytes,
      lost: () => this.#options.log('warn', `conversation ${backed.id}: the client reads slowly, some deltas are left out`),
    })
    this.#outboxes.set(conversation, outbox)
    return outbox
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined)

/** Arguments that no translation brings to a Codex that lacks them; all others are told it in its own words. */
const UNTRANSLATED = ['compact-prompt']

function refuseLacking(args: JsonObject | undefined, { engine, version }: Backend): void {
  const given = UNTRANSLATED.flatMap((name) => (args?.[name] === undefined ? [] : [[name, args[name]] as const]))
  const known = engine === 'codex' && given.length > 0 ? parseVersion(version) : undefined
  if (known === undefined) return
  const failure = invalidParams(checkParams('tool:codex', Object.fromEntries(given), known, 'wire').problems)
  if (failure !== undefined) throw new RpcError('invalid_params', failure.message, failure.data)
}

/** In the words of the old server where it had some. */
function openFault(error: unknown): string {
  const words = messageOf(error)
  return codeOf(error) === 'invalid_request'
    ? `Failed to load Codex configuration from overrides: ${words}`
    : `Failed to start Codex session: ${words}`
}

function findFault(error: unknown, id: string, { idName }: DialectFacts): string {
  if (codeOf(error) === 'conversation_unknown') return `Session not found for ${idName}: ${id}`
  return `Failed to resume Codex session: ${messageOf(error)}`
}
