import type { FileChange } from '@parley/agent'
import type { TurnOverrides } from './orders.ts'

/** Warnings kept for the turn that begins next. */
const KEPT_WARNINGS = 32

/** What is known of a turn while it runs. */
export class TurnNotes {
  readonly id: string
  /** Text that was told of an item so far: messages, thoughts, output of commands. */
  readonly told = new Map<string, string>()
  /** Messages that began and have not ended. */
  readonly unfinished = new Set<string>()
  /** What patches change, for the approvals that name nothing but the item. */
  readonly changes = new Map<string, readonly FileChange[]>()
  /** Commands as they were shown, for approvals that do not repeat them. */
  readonly commands = new Map<string, { readonly argv: readonly string[]; readonly folder: string }>()
  /** Calls of mounted tools under way, oldest first. */
  readonly tools = new Map<string, { readonly mount: string; readonly tool: string }>()
  lastMessage: string | undefined
  lastDiff = ''
  usages = 0
  retries = 0
  /** Tokens before the conversation was summed up, until it is known how many there are after it. */
  summedUpFrom: number | undefined

  constructor(id: string) {
    this.id = id
  }

  /** What of the whole text was not told yet; all of it where something else was. */
  rest(item: string, whole: string): string {
    const told = this.told.get(item) ?? ''
    return whole.startsWith(told) ? whole.slice(told.length) : told === '' ? whole : ''
  }

  tell(item: string, delta: string): void {
    this.told.set(item, (this.told.get(item) ?? '') + delta)
  }
}

/** One thread of the process, as far as the bridge must remember it. */
export class Thread {
  readonly id: string
  /** The thread that started this one, for one that nobody opened. */
  parent: string | undefined
  /** Set once the thread was opened by us. */
  overrides: TurnOverrides | undefined
  turn: TurnNotes | undefined
  /** The id of the turn that ended last. */
  endedTurn: string | undefined
  /** Tools of mounts that were approved for as long as the conversation is open. */
  readonly approvedTools = new Set<string>()
  readonly warnings: string[] = []
  contextTokens = 0
  contextWindow: number | null = null

  constructor(id: string) {
    this.id = id
  }

  keepWarning(message: string): void {
    if (this.warnings.length < KEPT_WARNINGS) this.warnings.push(message)
  }
}
