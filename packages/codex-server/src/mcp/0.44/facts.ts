import { olderChange } from '../../event/0.44/words.ts'
import type { DialectFacts } from '../dialect-facts.ts'

/** Of 0.42 to 0.45. */
export const FACTS: DialectFacts = {
  name: '0.44',
  idName: 'conversation_id',
  missingId: 'Failed to parse configuration for Codex tool: missing field `conversationId`',
  unknownField: () => undefined,
  numberWords: (value) => (Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``),
  isForeign: ({ has }) => has !== undefined,
  ofThread: () => ({}),
  parsed: () => ({}),
  change: olderChange,
  structured: () => ({}),
  eventId: (ofCall) => ofCall,
}
