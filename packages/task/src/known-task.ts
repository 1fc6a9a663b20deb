import type { JsonObject } from '@parley/protocol/wire'

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/** What a client is told of a task at first; what belongs to its status comes beside it. */
export interface TaskView {
  readonly taskId: string
  readonly status: TaskStatus
  readonly statusMessage?: string | undefined
  readonly createdAt: string
  readonly lastUpdatedAt: string
  /** From when it was made; null: as long as what it is about. */
  readonly ttlMs: number | null
  readonly pollIntervalMs: number
}

/** A task that its owner may ask about, wherever it is kept. */
export interface KnownTask {
  /** All that there is to say of it now, as the text of a JSON object. */
  detailed(): string | Promise<string>
  /** Takes what the client was asked for. What was not asked, or is answered already, is left out. */
  answer(responses: Readonly<Record<string, JsonObject>>): void
  /** Takes the client's wish to end it. */
  cancel(): void | Promise<void>
  /** Tells when there is more to say; the answer ends that. */
  watch(changed: () => void): () => void
}

/** A view and what belongs to its status, written without reading a result that is text already. */
export function taskText(
  view: TaskView,
  more?: { readonly member: 'result' | 'error' | 'inputRequests'; readonly text: string },
): string {
  const text = JSON.stringify(view)
  return more === undefined ? text : `${text.slice(0, -1)},"${more.member}":${more.text}}`
}
