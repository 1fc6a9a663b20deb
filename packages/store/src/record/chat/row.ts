import { AgentId, ChatMessage, ChatText, parseJson } from '@parley/protocol'
import { type Row, integer, text, toJson } from '@parley/database'
import type { ChatMarkerRecord, ChatRecord, NewChat } from './chat.ts'

const From = ChatMessage.shape.from

/** As JSON, because a text of people's may hold what neither engine stores. */
export const bodyColumn = ({ text: said }: NewChat): string => toJson('text', ChatText, said)

export const toChat = (row: Row): ChatRecord => ({
  agentId: AgentId.parse(text(row, 'agent_id')),
  number: integer(row, 'number'),
  from: From.parse(text(row, 'said_from')),
  by: text(row, 'said_by'),
  text: ChatText.parse(parseJson(text(row, 'body'))),
  createdAt: integer(row, 'created_at'),
})

export const toMarker = (row: Row): ChatMarkerRecord => ({
  reader: text(row, 'reader'),
  readTo: integer(row, 'read_to'),
  updatedAt: integer(row, 'updated_at'),
})
