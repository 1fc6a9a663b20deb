import type { JsonObject } from '@parley/protocol'
import type { EventMessage } from '../../port/backed-conversation.ts'
import { objectsIn, textOf, textsIn } from './fields.ts'

/** What was said in earlier turns, in the words of Codex's events. */
export function messagesOf(turns: readonly JsonObject[]): EventMessage[] {
  return turns.flatMap((turn) => objectsIn(turn, 'items')).flatMap(messageOf)
}

function messageOf(item: JsonObject): EventMessage[] {
  switch (textOf(item, 'type')) {
    case 'userMessage': {
      const parts = objectsIn(item, 'content').filter((part) => textOf(part, 'type') === 'text')
      const message = parts.map((part) => textOf(part, 'text')).join('\n')
      return message === '' ? [] : [{ type: 'user_message', message, kind: 'plain' }]
    }
    case 'agentMessage':
      return [{ type: 'agent_message', message: textOf(item, 'text') }]
    case 'reasoning':
      return textsIn(item, 'summary').map((text) => ({ type: 'agent_reasoning', text }))
    default:
      return []
  }
}
