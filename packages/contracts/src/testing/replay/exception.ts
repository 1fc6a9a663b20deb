import type { JsonValue } from '@parley/protocol'
import type { Step } from '../../record/scenario.ts'

/** Where a recorded client is replayed. */
export interface ReplayPlace {
  readonly engine: 'mini' | 'codex'
  /** Whose client it was. */
  readonly version: string
  readonly scenario: string
}

/**
 * One thing that is otherwise on purpose. `leftOut`: messages of the recording that ours does not send; `added`: the other
 * way round; `answered`: answers to requests that Codex left without one; `moved`: sent by both, but not at the same place; `merged`: pieces of one text, which may be cut elsewhere;
 * `unlisted`: members of lists in the recording that ours does not list;
 * `value`: another value of the same type; `longer`: a text that goes on where the recorded one ends; `field`: there on one side alone, or of another type; `notSent`: a step of the
 * client that is not replayed; `sent`: a step that is replayed otherwise.
 */
export type Excuse =
  | { readonly leftOut: RegExp }
  | { readonly added: RegExp }
  | { readonly answered: RegExp }
  | { readonly moved: RegExp }
  | { readonly merged: RegExp }
  | { readonly unlisted: (member: JsonValue) => boolean }
  | { readonly value: RegExp }
  | { readonly longer: RegExp }
  | { readonly field: RegExp }
  | { readonly notSent: (step: Step) => boolean }
  | { readonly sent: (step: Step) => Step }

/** A named difference, where it holds and why it is there. Patterns see the word of a message, and behind it the place in it. */
export type Exception = {
  readonly name: string
  readonly reason: string
  readonly engine?: ReplayPlace['engine']
  readonly versions?: readonly string[]
  readonly scenarios?: RegExp
  readonly excuses: readonly Excuse[]
}

/** The exceptions that hold at a place. */
export const exceptionsAt = (all: readonly Exception[], { engine, version, scenario }: ReplayPlace): readonly Exception[] =>
  all.filter(
    (one) =>
      (one.engine === undefined || one.engine === engine) &&
      (one.versions === undefined || one.versions.includes(version)) &&
      (one.scenarios === undefined || one.scenarios.test(scenario)),
  )
