import type { JsonObject } from '@parley/protocol'
import type { Backend } from '../backend/backend.ts'
import type { Conversations } from '../conversation/conversations.ts'
import type { DialectFacts } from './dialect-facts.ts'
import type { Handshake } from './handshake.ts'
import type { Listeners } from './listeners.ts'
import type { Logins } from './logins.ts'
import type { McpSide } from './0.42/mcp-side.ts'
import type { Notes } from './notes.ts'
import type { Searches } from './searches.ts'

/** What the methods work with. */
export interface App {
  readonly dialect: DialectFacts
  readonly folder: string
  readonly notes: Notes
  readonly handshake: Handshake
  readonly conversations: Conversations
  readonly listeners: Listeners
  readonly logins: Logins
  readonly searches: Searches
  /** Where the dialect has tools; nobody else waits for what they need. */
  readonly mcp: Promise<McpSide> | undefined
  /** Fires when the input has ended. */
  readonly ending: AbortSignal
  readonly backend: () => Promise<Backend>
  readonly tell: (method: string, params: JsonObject) => void
}
