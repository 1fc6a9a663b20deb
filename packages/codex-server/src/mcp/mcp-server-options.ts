import type { LazyBackend } from '../backend/lazy-backend.ts'
import type { Conversations } from '../conversation/conversations.ts'
import type { EventDialect } from '../event/translator.ts'
import type { OpenOrder } from '@parley/codex/port'
import type { UserAgentFacts } from './user-agent.ts'

export type LogLine = (level: 'debug' | 'info' | 'warn' | 'error', line: string) => void

/** What becomes of a question that nobody can answer. `ask` sends it all the same, as the old server did. */
export type WhenUnanswerable = 'deny' | 'approve' | 'abort' | 'ask'

export interface McpServerOptions {
  /** Opened at the first tool call, so that `initialize` does not wait for an engine. */
  readonly backend: LazyBackend
  /** Those that somebody else serves on the same wire; left out: its own. */
  readonly conversations?: Conversations
  readonly dialect: EventDialect
  readonly agent: UserAgentFacts
  /** Absolute: where a relative `cwd` begins, and where a conversation works that names none. */
  readonly folder: string
  /** Holds where a call says nothing else. */
  readonly defaults?: OpenOrder
  /** For clients that did not say that they can be asked; `deny` when left out. */
  readonly whenUnanswerable?: WhenUnanswerable
  /** How long a question waits for its answer; as long as its call when left out. */
  readonly answerMs?: number
  /** For people, on stderr. */
  readonly log: LogLine
  readonly limits?: Partial<McpServerLimits>
}

export interface McpServerLimits {
  /** Conversations that stay open. The least used one is closed for a new one, and resumed when it is asked for. */
  readonly openConversations: number
  /** Replies that wait for their turn in one conversation. */
  readonly waitingReplies: number
  /** Of deltas that wait for a client that reads slowly; more are left out, and the whole comes at the end. */
  readonly laggingBytes: number
  /** A cancelled turn that has not ended by then is answered all the same. */
  readonly cancelMs: number
  /** What may pass between the end of the input and the end of the server. */
  readonly closeMs: number
  /** How long a call of the newer protocol waits for its client to come back with answers. */
  readonly parkedMs: number
}
