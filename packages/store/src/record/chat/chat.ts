import type { AgentId, ChatMessage } from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'

/** One message of an agent's chat. `number` is its place among all of them, from one, without a gap. */
export interface ChatRecord {
  readonly agentId: AgentId
  readonly number: number
  readonly from: ChatMessage['from']
  readonly by: string
  readonly text: string
  readonly createdAt: number
}

export interface ChatMarkerRecord {
  readonly reader: string
  readonly readTo: number
  readonly updatedAt: number
}

export interface NewChat {
  readonly by: string
  readonly text: string
  /** The same key of the same author is the same message. */
  readonly key?: string
}

/** What people and one agent say to each other, in one order for all. Publishes `agent/ID/chat` with each change. */
export interface Chats {
  /** What a person says. It wakes a local agent that rests, in the same commit, where its rules let it. Throws `NotFound`. */
  post(agentId: AgentId, message: NewChat): Promise<ChatRecord>
  /** What the agent says, for the host that holds it. Throws `LeaseLost`. */
  postAsAgent(fence: LeaseFence, message: NewChat): Promise<ChatRecord>
  /** Those after a place, oldest first; where none is given, the last ones. `head` is the newest there is, 0 without any. */
  read(
    agentId: AgentId,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<{ readonly messages: readonly ChatRecord[]; readonly head: number }>
  /** How far a reader has read. It never goes back, and never beyond the newest message. Throws `NotFound`. */
  mark(agentId: AgentId, reader: string, readTo: number): Promise<ChatMarkerRecord>
  /** Those who moved last first. */
  markers(agentId: AgentId): Promise<readonly ChatMarkerRecord[]>
}

export const chatTopic = (id: AgentId): string => `agent/${id}/chat`
