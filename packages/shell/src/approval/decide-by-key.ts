import type { SteadyClient } from '@parley/client'
import { type Approval, type ApprovalAnswer, ToolError, unlessAborted } from '@parley/protocol'
import type { Io } from '@parley/command-line'
import { asCommandError } from '@parley/command-line/wording'
import { actOf, firstOf, keysText } from './approval-keys.ts'
import { approvalText, decidedText } from './approval-text.ts'
import { followPending } from './follow-pending.ts'
import { Keyboard } from './keyboard.ts'

/** A key that was on its way when a call came was meant for the one before: so long after it is shown no key counts. */
const UNREAD_MS = 300
const INTERRUPTED_EXIT = 130
/** Others have decided, or it has ended: there is nothing more to say to it. */
const OVER: ReadonlySet<string> = new Set(['conflict', 'not_found'])

/** What waits, as it is now, and the next change of it. */
class Waiting {
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

/** Shows one call after the other and decides by keys, until somebody quits. Answers the exit code. */
export async function decideByKey(caller: SteadyClient, io: Io): Promise<number> {
  using keyboard = new Keyboard(io)
  const waiting = new Waiting()
  const following = followPending(caller, (items) => waiting.take(items), keyboard.signal).finally(keyboard.end)
  // It is waited for below, where a decision that is under way has ended.
  following.catch(() => undefined)
  try {
    await new Desk({ caller, io, keyboard, waiting }).sit()
  } catch (error) {
    if (!keyboard.signal.aborted) throw error
  } finally {
    keyboard.end()
    io.err('\n')
    await following
  }
  return keyboard.isInterrupted ? INTERRUPTED_EXIT : 0
}

interface DeskParts {
  readonly caller: SteadyClient
  readonly io: Io
  readonly keyboard: Keyboard
  readonly waiting: Waiting
}

/** Whoever sits here has one call before them at a time. */
class Desk {
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
    const { io, waiting } = this.#parts
    for (let isTold = false; ;) {
      const { items, changed } = waiting
      const first = firstOf(items ?? [], this.#passed)
      if (first !== undefined) return first
      if (items !== undefined && !isTold) {
        io.err('nothing waits for you; q quits\n')
        isTold = true
      }
      await this.#unlessOver(changed)
    }
  }

  /** Shows it, and takes keys for it until it is decided, passed over or gone. */
  async #ask(approval: Approval): Promise<void> {
    const { caller, io, keyboard, waiting } = this.#parts
    io.out(`\n${approvalText(approval, io)}\n\n`)
    await caller.clock.sleep(UNREAD_MS, keyboard.signal)
    io.err(keysText(approval))
    for (;;) {
      if (waiting.items?.some(({ approval_id }) => approval_id === approval.approval_id) !== true) {
        io.err('\nit does not wait any more\n')
        return keyboard.forget()
      }
      const typed = await this.#unlessOver(Promise.race([keyboard.next(), waiting.changed]))
      const act = typed === undefined ? undefined : actOf(approval, typed)
      if (act === undefined) continue
      io.err(`${typed}\n`)
      if (act.kind !== 'decide' || (await this.#decide(approval, act.decision))) return
      io.err(keysText(approval))
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
    return unlessAborted(promise, this.#parts.keyboard.signal, () => new Error('it is over'))
  }
}
