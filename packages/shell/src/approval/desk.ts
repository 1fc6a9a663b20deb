import type { SteadyClient } from '@parley/client'
import { type Approval, type ApprovalAnswer, ToolError, unlessAborted } from '@parley/protocol'
import type { Io } from '@parley/command-line'
import { asCommandError } from '@parley/command-line/wording'
import { actOf, firstOf, keysText } from './approval-keys.ts'
import { approvalText, decidedText } from './approval-text.ts'

/** A key that was on its way when a call came was meant for the one before: so long after it is shown no key counts. */
const UNREAD_MS = 300
/** Others have decided, or it has ended: there is nothing more to say to it. */
const OVER: ReadonlySet<string> = new Set(['conflict', 'not_found'])

/** Where the answers to what is shown come from. */
export interface Answers {
  /** Aborted when it is over. */
  readonly signal: AbortSignal
  /** The next answer, of those that were begun after this was asked. Asked twice it is the same one. */
  next(): Promise<string>
  /** Nobody waits for an answer any more. */
  forget(): void
}

/** What waits, as it is now, and the next change of it. */
export class WhatWaits {
  #items: readonly Approval[] | undefined
  #changed = Promise.withResolvers<undefined>()

  get items(): readonly Approval[] | undefined {
    return this.#items
  }
  get changed(): Promise<undefined> {
    return this.#changed.promise
  }
  take(items: readonly Approval[]): void {
    if (this.#items !== undefined && idsOf(this.#items) === idsOf(items)) return
    this.#items = items
    this.#changed.resolve(undefined)
    this.#changed = Promise.withResolvers()
  }
}
const idsOf = (items: readonly Approval[]): string => items.map(({ approval_id }) => approval_id).join()

interface DeskParts {
  readonly caller: SteadyClient
  /** Hears what is shown; what is asked of the person goes to `err`. */
  readonly io: Pick<Io, 'env' | 'err' | 'now' | 'out' | 'screen'>
  readonly answers: Answers
  readonly waiting: WhatWaits
  /** What stands before each key where it is typed as a word. */
  readonly before?: string
  /** What is said when there is nothing to decide. */
  readonly idle?: string
}

/** Whoever sits here has one call before them at a time. */
export class Desk {
  readonly #parts: DeskParts
  #passed: ReadonlySet<string> = new Set()

  constructor(parts: DeskParts) {
    this.#parts = parts
  }

  /** Throws when it is over. */
  async sit(): Promise<never> {
    for (;;) {
      const approval = await this.#first()
      await this.#ask(approval)
      const stillWaits = new Set<string>(this.#parts.waiting.items?.map(({ approval_id }) => approval_id))
      this.#passed = new Set([...this.#passed, approval.approval_id].filter((id) => stillWaits.has(id)))
    }
  }

  async #first(): Promise<Approval> {
    const { io, waiting, idle } = this.#parts
    for (let isTold = false; ;) {
      const { items, changed } = waiting
      const first = firstOf(items ?? [], this.#passed)
      if (first !== undefined) return first
      if (items !== undefined && !isTold && idle !== undefined) {
        io.err(`${idle}\n`)
        isTold = true
      }
      await this.#unlessOver(changed)
    }
  }

  /** Shows it, and takes keys for it until it is decided, passed over or gone. */
  async #ask(approval: Approval): Promise<void> {
    const { caller, io, answers, waiting, before = '' } = this.#parts
    io.out(`\n${approvalText(approval, io)}\n\n`)
    await caller.clock.sleep(UNREAD_MS, answers.signal)
    io.err(keysText(approval, before))
    for (;;) {
      if (waiting.items?.some(({ approval_id }) => approval_id === approval.approval_id) !== true) {
        io.err('\nit does not wait any more\n')
        return answers.forget()
      }
      const typed = await this.#unlessOver(Promise.race([answers.next(), waiting.changed]))
      const act = typed === undefined ? undefined : actOf(approval, typed)
      if (act === undefined) continue
      io.err(`${before}${typed}\n`)
      if (act.kind !== 'decide' || (await this.#decide(approval, act.decision))) return
      io.err(keysText(approval, before))
    }
  }

  /** Answers whether it is done with. What was refused is told, and the call stays where it is. */
  async #decide({ approval_id, preview_sha256 }: Approval, decision: ApprovalAnswer): Promise<boolean> {
    const { caller, io } = this.#parts
    try {
      io.err(`${decidedText(await caller.call('approval.decide', { approval_id, decision, preview_sha256 }), io)}\n`)
      return true
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      const { message, hint } = asCommandError(error)
      io.err(`${message}${hint === undefined ? '' : ` (${hint})`}\n`)
      return OVER.has(error.code)
    }
  }

  #unlessOver<Value>(promise: Promise<Value>): Promise<Value> {
    return unlessAborted(promise, this.#parts.answers.signal, () => new Error('it is over'))
  }
}
