import type { JsonObject } from '@parley/protocol'
import type { Backend } from '../backend/backend.ts'
import type { AppDialect } from './app-server-options.ts'
import type { Conversations } from './conversations.ts'
import type { Handshake } from './handshake.ts'
import type { Logins } from './logins.ts'
import type { McpSide } from './mcp-side.ts'
import type { Notes } from './notes.ts'
import type { Searches } from './searches.ts'

/** What the methods work with. */
export interface App {
  readonly dialect: AppDialect
  readonly folder: string
  readonly notes: Notes
  readonly handshake: Handshake
  readonly conversations: Conversations
  readonly logins: Logins
  readonly searches: Searches
  /** In 0.42 alone. */
  readonly mcp: McpSide | undefined
  /** Fires when the input has ended. */
  readonly ending: AbortSignal
  readonly backend: () => Promise<Backend>
  readonly tell: (method: string, params: JsonObject) => void
}
