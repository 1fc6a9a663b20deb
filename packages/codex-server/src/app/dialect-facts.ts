import type { JsonObject, RpcCodeName } from '@parley/protocol'
import type { BackedConversation } from '@parley/codex/port'
import type { AppDialect } from './app-server-options.ts'

/** What the server of one version's methods does otherwise than that of another. */
export interface DialectFacts {
  readonly name: AppDialect
  /** The version that its clients look for. */
  readonly version: string
  /** What every message begins with. */
  readonly head: JsonObject
  /** Codes for a method that is not known, and for params that cannot be worked with. */
  readonly wrongMethod: RpcCodeName
  readonly wrongParams: RpcCodeName
  /** Whether the client must say first who it is. */
  readonly greetsFirst: boolean
  /** Whether params of a method that takes none are read over. */
  readonly readsOverParams: boolean
  /** Whether the tools of MCP are served on the same wire, with the same conversations. */
  readonly hasTools: boolean
  /** The params of a question, in its own names. */
  readonly named: (params: JsonObject) => JsonObject
  /** What is told of a conversation that was resumed, before the answer. */
  readonly configured: (backed: BackedConversation) => { readonly method: string; readonly params: JsonObject }
}
