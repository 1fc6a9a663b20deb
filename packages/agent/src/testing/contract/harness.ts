import type { JsonObject } from '@parley/protocol'
import type { ConversationOptions, Engine } from '../../engine.ts'
import type { PlanStep } from '../../event.ts'

/** One thing that a model does in an answer, in no engine's own words: the harness knows which tool of its engine that is. */
export type Move =
  | { readonly say: string }
  | { readonly think: string }
  | { readonly run: readonly string[] }
  /** In the form `*** Begin Patch`. */
  | { readonly patch: string }
  /** A tool of the mount that `contractTools` serves. */
  | { readonly use: 'echo' | 'wait'; readonly arguments: JsonObject }
  | { readonly plan: readonly PlanStep[] }

/** What the model answers to one request. `hang`: nothing at all, `stall`: the beginning of a message and then nothing. */
export type ScriptedAnswer =
  | readonly Move[]
  | { readonly refuse: string }
  | { readonly fail: 'unauthorized' | 'rejected' }
  | { readonly hang: true }
  | { readonly stall: string }

/** The name of the mount in the options of every conversation. */
export const CONTRACT_MOUNT = 'contract'

/** An engine over a storage and a model, both real. */
export interface ContractWorld extends AsyncDisposable {
  /** Another engine over the same storage, as after a restart. The world closes it if the test did not. */
  openEngine(): Promise<Engine>
  /** A conversation with the model of this name in this world, in an empty folder of its own, with the mount; mode `never`. */
  options(model: string): Promise<ConversationOptions>
  /** What the model of that name answers from now on, one request after the other. */
  script(model: string, answers: readonly ScriptedAnswer[]): void
  /** Bodies of the requests that it got, as text. */
  heard(model: string): readonly string[]
  /** Settles when it has got so many. */
  asked(model: string, count: number): Promise<void>
  /** What the model's provider refused because a request broke its rules: a call without its output, for one. */
  violations(): readonly string[]
}

export interface ContractHarness {
  open(): Promise<ContractWorld>
  /** What this engine does otherwise and why, by a part of the title. It is skipped; what happens instead has a test beside. */
  readonly differs?: Readonly<Record<string, string>>
}
