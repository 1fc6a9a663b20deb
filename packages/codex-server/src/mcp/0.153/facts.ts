import { newerChange } from '../../event/0.153/words.ts'
import { parseCommand } from '../../event/parsed-command.ts'
import type { DialectFacts } from '../dialect-facts.ts'

/** Of 0.100 to 0.153. */
export const FACTS: DialectFacts = {
  name: '0.153',
  idName: 'thread_id',
  missingId: 'Failed to parse thread_id: either threadId or conversationId must be provided',
  unknownField: (key, expected) => `unknown field \`${key}\`, expected one of ${expected}`,
  numberWords: () => 'number',
  isForeign: ({ hadUntil }) => hadUntil !== undefined,
  ofThread: (threadId) => ({ threadId }),
  parsed: (argv) => ({ codex_parsed_cmd: [{ ...parseCommand(argv) }] }),
  change: newerChange,
  structured: (threadId, content) => ({ structuredContent: { threadId, content } }),
  eventId: (_ofCall, ofTurn) => ofTurn,
}
