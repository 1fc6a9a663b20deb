import type { LazyBackend } from '../backend/lazy-backend.ts'
import type { Conversations } from '../conversation/conversations.ts'
import type { EventDialect } from '../event/translator.ts'
import type { OpenOrder } from '@parley/codex/port'

export type LogLine = (level: 'debug' | 'info' | 'warn' | 'error', line: string) => void

/** What becomes of a question that nobody can answer. `ask` sends it all the same, as the old server did. */
export type WhenUnanswerable = 'deny' | 'approve' | 'abort' | 'ask'

export interface McpServerOptions {
  /** Opened at the first tool call, so that `initialize` does not wait for an engine. */
  readonly backend: LazyBackend
  /** Those that somebody else serves on the same wire; left out: its own. */
  readonly conversations?: Conversations
  readonly dialect: EventDialect
  /** What the user agent says beside the client's own name. */
  readonly agent: {
    /** System and machine, as in `Debian 12.0.0; x86_64`. */
    readonly platform: string
    /** As in `xterm`. */
    readonly terminal: string
    /** Ours, as in `parley/0.1.0`. */
    readonly product: string
  }
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

export const MCP_SERVER_LIMITS: McpServerLimits = {
  openConversations: 60,
  waitingReplies: 16,
  laggingBytes: 4 * 1024 * 1024,
  cancelMs: 5_000,
  closeMs: 1_500,
  parkedMs: 10 * 60_000,
}

/** The version that clients of a dialect look for. */
export const DIALECT_VERSIONS: Readonly<Record<EventDialect, string>> = { '0.44': '0.44.0', '0.153': '0.153.4' }
