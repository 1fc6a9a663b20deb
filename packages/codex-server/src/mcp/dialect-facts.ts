import type { JsonObject } from '@parley/protocol'
import type { TOOL_PARAMS } from '@parley/contracts/params'
import type { ToldChange } from '../event/file-changes.ts'
import type { EventDialect } from '../event/translator.ts'

/** What the MCP server of one version does otherwise than that of another, once a tool is called. */
export interface DialectFacts {
  readonly name: EventDialect
  /** What texts call the id of a conversation. */
  readonly idName: string
  /** Of a reply that names no conversation. */
  readonly missingId: string
  /** Of an argument that nobody knows; undefined where it is read over. */
  readonly unknownField: (key: string, expected: string) => string | undefined
  /** A number that stands where something else should. */
  readonly numberWords: (value: number) => string
  /** Whether only other versions have an argument. */
  readonly isForeign: (row: (typeof TOOL_PARAMS)[number]) => boolean
  /** The conversation, where messages about it name it. */
  readonly ofThread: (threadId: string) => { readonly threadId?: string }
  /** What a question about a command says of what it does. */
  readonly parsed: (argv: readonly string[]) => JsonObject
  readonly change: (change: ToldChange) => JsonObject
  /** What a result holds beside its text. */
  readonly structured: (threadId: string, content: string) => JsonObject
  /** The id of a turn's events: that of its call, or its own. */
  readonly eventId: (ofCall: string, ofTurn: string) => string
}
