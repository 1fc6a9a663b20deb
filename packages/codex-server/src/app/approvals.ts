import type { ApprovalDecision, ApprovalRequest } from '@parley/agent'
import type { JsonObject, JsonValue } from '@parley/protocol'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { APPROVALS_MAX } from './bounds.ts'
import type { DialectFacts } from './dialect-facts.ts'
import type { Notes } from './notes.ts'
import type { Outbox } from './outbox.ts'
import { approvalAsk } from './shape/approval-params.ts'
import { readDecision } from './shape/decision.ts'

export interface ApprovalsOptions {
  readonly dialect: DialectFacts
  readonly notes: Notes
  readonly ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonValue>
}

/** Where an approval comes from. */
export interface Asker {
  readonly conversationId: string
  readonly folder: string
  readonly outbox: Outbox
}

/** Asks the client what it lets happen. Whatever is not a clear yes is a no. */
export class Approvals {
  readonly #options: ApprovalsOptions
  #waiting = 0

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  /** Asks behind the events before it; without a listener it waits for one, as Codex does. Never rejects. */
  async decide(asker: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { notes } = this.#options
    if (signal.aborted) return 'denied'
    if (this.#waiting >= APPROVALS_MAX) {
      notes.say(`an approval was denied: ${APPROVALS_MAX} wait for the client already`)
      return 'denied'
    }
    this.#waiting += 1
    const { promise, resolve } = Promise.withResolvers<ApprovalDecision>()
    const takeBack = asker.outbox.inOrder(() => void this.#ask(asker, request, signal).then(resolve))
    const onAbort = (): void => {
      takeBack()
      resolve('denied')
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#waiting -= 1
    }
  }

  async #ask({ conversationId, folder }: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { dialect, notes, ask } = this.#options
    const { method, params } = approvalAsk(dialect, conversationId, folder, request)
    try {
      const read = readDecision(await ask(method, params, signal))
      if (read.kind === 'unreadable') {
        notes.say(`${method}: the answer has no decision (approved, approved_for_session, denied, abort): denied`)
        return 'denied'
      }
      if (read.kind === 'translated')
        notes.once(`decision ${read.word}`, `${method}: the decision "${read.word}" is taken for "${read.decision}"`)
      return read.decision
    } catch (error) {
      if (error instanceof RemoteFailure) notes.say(`${method}: the client answered with an error (${error.code}): denied`)
      return 'denied'
    }
  }
}
