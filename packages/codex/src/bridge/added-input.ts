import { setTimeout as sleep } from 'node:timers/promises'
import type { InputPart } from '@parley/agent'
import { PeerGone } from '@parley/rpc/line-peer'
import { type TurnRecord, unreadInput } from './rollout/unread-input.ts'

/** What one turn takes in beside what it began with. */
const ADDED_MAX = 128
/** How long Codex may take to answer, after the end of a turn, for what was added to it. */
const HANDED_MS = 1_000

type Input = readonly InputPart[]

/** What is added to one turn while it runs. */
export class AddedInput {
  /** `isHanded` settles with false where it did not become Codex's. */
  readonly #added: { readonly input: Input; readonly isHanded: Promise<boolean> }[] = []
  readonly #over = new AbortController()

  get isEmpty(): boolean {
    return this.#added.length === 0
  }

  /** `hand` gives it to Codex, as long as the turn is not over. False: the turn takes no more. */
  add(input: Input, hand: (over: AbortSignal) => Promise<boolean>): boolean {
    if (this.#over.signal.aborted || this.#added.length >= ADDED_MAX) return false
    // A process that is lost may have read it before.
    const isHanded = hand(this.#over.signal).catch((error: unknown) => error instanceof PeerGone)
    this.#added.push({ input, isHanded })
    return true
  }

  /** The turn is over. */
  end(): void {
    this.#over.abort()
  }

  /** What the turn ended without having read, in the order in which it came. */
  async unread(turn: TurnRecord): Promise<readonly Input[]> {
    const handed: Input[] = []
    const left: Input[] = []
    // What is not answered by then may have been read all the same.
    const late = sleep(HANDED_MS, true, { ref: false })
    for (const { input, isHanded } of this.#added) ((await Promise.race([isHanded, late])) ? handed : left).push(input)
    return [...(handed.length === 0 ? [] : await unreadInput(turn, handed)), ...left]
  }
}
