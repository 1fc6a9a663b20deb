import type { AgentId, Heard, NewsKind, NewsPage, PromptId, RestRecord, Yield } from '@parley/protocol'
import type { LeaseFence } from '../../lease/fence.ts'
import type { AppendOutcome } from '../../log/log.ts'

/** A piece of news that is no message of the chat. Of one subject there is one: the newer takes the place of the older. */
export interface NewNews {
  readonly kind: Exclude<NewsKind, 'chat'>
  readonly subject: string
  /** What is said of it, in words. */
  readonly text: string
}

/**
 * What agents are to be told before their next request to a model: messages of people, which stand in the chat, and all other news.
 * Whatever may wake an agent that rests is looked at in the commit that brings it, or that ends its turn: the wake is a prompt like any other.
 * Publishes `agent/ID/news` when there is some.
 */
export interface News {
  /** Throws `LeaseLost`. */
  add(fence: LeaseFence, news: NewNews): Promise<void>
  /**
   * A resource that the agent listens to is now as `digest` says; null: that cannot be known. Where it is not certain that it has changed it is
   * news unless the agent was told of just this; it is none where the agent does not listen to it. Throws `LeaseLost`.
   */
  changed(
    fence: LeaseFence,
    uri: string,
    change: { readonly digest: string | null; readonly isCertain?: boolean },
  ): Promise<boolean>
  /** What the agent has not been told, oldest first; of one that is too large for the bound at least that one. Throws `LeaseLost`. */
  pending(fence: LeaseFence, bounds: { readonly maxItems: number; readonly maxChars: number }): Promise<NewsPage>
  /** Adds lines to its transcript, and what they say that it was told is heard in the same commit, or neither. Throws `LeaseLost`. */
  hear(
    fence: LeaseFence,
    lines: readonly Uint8Array[],
    options: { readonly offset: number; readonly heard: Heard },
  ): Promise<AppendOutcome>
  /** The turn of the prompt that runs is to be its last word for now. The last one counts. Throws `LeaseLost`, `Conflict` unless that one runs under this claim. */
  yield(fence: LeaseFence, id: PromptId, wants: Yield): Promise<RestRecord>
  /** Whether the turn of a prompt was ended by the agent itself. */
  hasYielded(agentId: AgentId, id: PromptId): Promise<boolean>
  /** For what it rests; `undefined` where it did not end its last turn itself, or another one has begun. */
  rest(agentId: AgentId): Promise<RestRecord | undefined>
  /** Wakes those whose time has come, `limit` of them. Answers how many were looked at. */
  wakeDue(limit: number): Promise<number>
}
