import type { AgentStatusItem, CaseItem, JobState } from '@parley/protocol'

/**
 * What a case begins: `nothing` where it goes on with the cases before it; `attempt`: the first case of an attempt; `claim`: the first
 * of an attempt that another claim has begun again, after its judge died or gave the job back. Then what was told before does not count.
 */
export type Begins = 'nothing' | 'attempt' | 'claim'

/** What stands in the way: there is no connection and nothing was heard yet, or the gateway refuses and is asked again. */
export type Trouble = { readonly kind: 'none' | 'away' } | { readonly kind: 'refused'; readonly message: string }

/** What is heard of a job: of its logs each thing once and in order, also over lost connections; of its state the newest. */
export interface JobListener {
  state(state: JobState): void
  status(item: AgentStatusItem): void
  caseDone(item: CaseItem, begins: Begins): void
  /** Bytes of the terminal; a character may be split between two calls. */
  terminal?(bytes: Uint8Array): void
  /** What the terminal said before this byte is left out. */
  terminalFrom?(offset: number): void
  /** The gateway has other logs than before, as after a restored backup: everything is told again from the beginning. */
  restarted(): void
  trouble?(what: Trouble): void
}
