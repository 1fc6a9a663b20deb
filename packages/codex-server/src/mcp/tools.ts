import type { TurnEnd } from '@parley/agent'
import { type JsonObject, messageOf, RpcError } from '@parley/protocol'
import type { Call, ServiceResult } from '@parley/rpc'
import type { Backend } from '../backend/backend.ts'
import { checkParams, invalidParams } from '@parley/contracts/params'
import { parseVersion } from '@parley/contracts/version'
import { type CallPort, legacyPort } from './call-port.ts'
import { Conversations } from './conversations.ts'
import type { DialectFacts } from './dialect-facts.ts'
import { DIALECTS } from './dialects.ts'
import { MCP_SERVER_LIMITS, type McpServerLimits, type McpServerOptions } from './mcp-server-options.ts'
import { ModernCalls } from './modern-calls.ts'
import { Results } from './results.ts'
import type { Talk } from './talk.ts'
import { foreignArguments, readCodexArguments, readReplyArguments } from './tool-arguments.ts'
import { CANCELLED, textOf, TurnCall } from './turn-call.ts'

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
  readonly #results: Results
  readonly #conversations: Conversations
  readonly #modern: ModernCalls
  readonly #closing = new AbortController()
  #backend: Promise<Backend> | undefined

  constructor(options: McpServerOptions) {
    const { dialect, defaults = {}, log } = options
    this.#options = options
    this.#dialect = DIALECTS[dialect]
    this.#limits = { ...MCP_SERVER_LIMITS, ...options.limits }
    this.#results = new Results(this.#dialect)
    this.#conversations = new Conversations({
      backend: () => this.#engine(),
      dialect,
      defaults,
      limit: this.#limits.openConversations,
      log,
    })
    this.#modern = new ModernCalls(this.#limits.openConversations, this.#limits.parkedMs)
  }

  async call(name: string, args: JsonObject | undefined, call: Call): Promise<ServiceResult> {
    const run = (port: CallPort): Promise<JsonObject> => this.#run(name, args, port)
    return call.era === 'modern' ? this.#modern.call(call, run) : run(legacyPort(call))
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the server is closing'))
    const backend = await this.#backend?.catch(() => undefined)
    if (backend === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#options.log('warn', `the engine has not ended after ${this.#limits.closeMs} ms`)
      resolve()
    }, this.#limits.closeMs)
    await Promise.race([backend.close(), promise])
    clearTimeout(timer)
  }

  #engine(): Promise<Backend> {
    if (this.#closing.signal.aborted) return Promise.reject(new Error('the server is ending'))
    // A failure is not kept: what was missing may be there the next time.
    this.#backend ??= this.#options.backend().catch((error: unknown) => {
      this.#backend = undefined
      throw error
    })
    return this.#backend
  }

  async #run(name: string, args: JsonObject | undefined, port: CallPort): Promise<JsonObject> {
    if (name !== 'codex' && name !== 'codex-reply') return this.#results.failed(`Unknown tool '${name}'`)
    if (args !== undefined) {
      for (const words of foreignArguments(name, args, this.#dialect))
        this.#options.log('info', `${name}: ${words} is of another version of Codex than ${this.#options.dialect}, and is taken`)
    }
    return name === 'codex' ? this.#begin(args, port) : this.#reply(args, port)
  }

  async #begin(args: JsonObject | undefined, port: CallPort): Promise<JsonObject> {
    const { folder, defaults = {} } = this.#options
    const read = readCodexArguments(args, { dialect: this.#dialect, folder, defaults })
    if ('fault' in read) return this.#results.failed(read.fault)
    let talk: Talk
    try {
      refuseLacking(args, await this.#engine())
      talk = await this.#conversations.open(read.ok.order)
    } catch (error) {
      if (error instanceof RpcError) throw error
      return this.#results.failed(openFault(error))
    }
    try {
      await talk.enter(this.#closing.signal)
      const turn = this.#turn(talk, port, read.ok.prompt, String(port.id))
      turn.messages([talk.translator.configured()])
      return await this.#take(talk, turn, port, read.ok.prompt)
    } finally {
      this.#conversations.release(talk)
    }
  }

  async #reply(args: JsonObject | undefined, port: CallPort): Promise<JsonObject> {
    const read = readReplyArguments(args, this.#dialect)
    if ('fault' in read) return this.#results.failed(read.fault)
    const { threadId, prompt } = read.ok
    for (let isRetry = false; ; isRetry = true) {
      let talk: Talk
      try {
        talk = await this.#conversations.find(threadId)
      } catch (error) {
        return this.#results.failed(findFault(error, threadId, this.#dialect), threadId)
      }
      try {
        return await this.#replyIn(talk, prompt, port)
      } catch (error) {
        if (isRetry || codeOf(error) !== 'conversation_closed') return this.#results.failed(messageOf(error), threadId)
        this.#conversations.forget(talk)
      } finally {
        this.#conversations.release(talk)
      }
    }
  }

  async #replyIn(talk: Talk, prompt: string, port: CallPort): Promise<JsonObject> {
    const { id } = talk.conversation
    if (talk.waiting >= this.#limits.waitingReplies)
      return this.#results.failed(`${this.#limits.waitingReplies} replies wait for their turn in this conversation already`, id)
    if (!(await talk.enter(port.signal))) return this.#results.failed('The call was cancelled before its turn began.', id)
    const turn = this.#turn(talk, port, prompt, String(talk.replies++))
    return this.#take(talk, turn, port, prompt)
  }

  /** Runs one turn of a conversation that was entered, and leaves it. */
  async #take(talk: Talk, turn: TurnCall, port: CallPort, prompt: string): Promise<JsonObject> {
    const { conversation } = talk
    let isLeft = false
    try {
      if (port.signal.aborted) return this.#results.failed('The call was cancelled before its turn began.', conversation.id)
      talk.listen(turn)
      const { ended } = conversation.submit({ input: [{ type: 'text', text: prompt }] })
      const end = await this.#ended(talk, ended, port.signal)
      if (end === 'overdue') {
        // Whoever comes next must wait for it; this one need not.
        isLeft = true
        void ended.then(() => talk.leave())
        return this.#results.failed(CANCELLED, conversation.id)
      }
      await turn.flushed()
      const { text, isError } = textOf(end, port.signal.aborted)
      return isError ? this.#results.failed(text, conversation.id) : this.#results.done(conversation.id, text)
    } finally {
      if (!isLeft) talk.leave()
    }
  }

  /** How the turn ended. A cancelled one is interrupted, and not waited for beyond a bound. */
  async #ended(talk: Talk, ended: Promise<TurnEnd>, signal: AbortSignal): Promise<TurnEnd | 'overdue'> {
    const { promise: overdue, resolve } = Promise.withResolvers<'overdue'>()
    let timer: NodeJS.Timeout | undefined
    const interrupt = (): void => {
      timer = setTimeout(resolve, this.#limits.cancelMs, 'overdue')
      timer.unref()
      talk.conversation.interrupt().catch((error: unknown) => this.#options.log('warn', `interrupt: ${messageOf(error)}`))
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

  #turn(talk: Talk, port: CallPort, prompt: string, eventId: string): TurnCall {
    const { log, whenUnanswerable = 'deny', answerMs } = this.#options
    const { laggingBytes } = this.#limits
    return new TurnCall({ talk, port, prompt, dialect: this.#dialect, eventId, whenUnanswerable, answerMs, laggingBytes, log })
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
