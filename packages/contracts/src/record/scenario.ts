import type { JsonObject, JsonValue } from '@parley/protocol'
import type { ObservedVersion } from '../registry/registry-types.ts'

/** One thing that the model does, in no version's own words: whoever plays the model knows which tool that is. */
export type ModelMove =
  | { readonly say: string }
  | { readonly think: string }
  /** `escalate`: outside the sandbox, which asks the client first. */
  | { readonly run: readonly string[]; readonly escalate?: string }
  /** In the form `*** Begin Patch`. */
  | { readonly patch: string }
  | { readonly plan: readonly { readonly step: string; readonly status: 'pending' | 'in_progress' | 'completed' }[] }
  | { readonly use: string; readonly server: string; readonly arguments: JsonObject }

/** What the model answers to one request. `stall`: the beginning of a message, and then nothing. */
export type ScenarioAnswer = readonly ModelMove[] | { readonly refuse: string } | { readonly stall: string }

/** How Codex is configured: with the loopback model, the same with settings and a profile, or with OpenAI's own provider. */
export type ScenarioSettings = 'loopback' | 'saved' | 'openai' | 'tools'

/**
 * What a client does, in order. Text in params that begins with `$WORK` or `$HOME` is a path there; `$label.field` is what
 * the request of that label was answered.
 */
export type Step =
  /** Sends a request and waits for its answer. */
  | { readonly ask: string; readonly params?: JsonValue; readonly as?: string }
  /** Sends a request that waits for its answer in the background; `finish` waits for it. */
  | { readonly begin: string; readonly params?: JsonValue; readonly as: string }
  | { readonly finish: string }
  /** Sends a request that the server cannot read: an error, or nothing where the stage says that such are not answered. */
  | { readonly bad: string; readonly params?: JsonValue }
  /** Sends a request that is never answered. The next steps show that it was not. */
  | { readonly unanswered: string; readonly params?: JsonValue }
  | { readonly tell: string; readonly params?: JsonValue }
  /** Waits for a notification that no step has waited for yet. `event`: its `msg.type`; `text`: the beginning of its `msg.delta`. */
  | { readonly until: string; readonly event?: string; readonly text?: string; readonly as?: string }
  /** Waits for a request of the server and answers it. */
  | { readonly reply: string; readonly result?: JsonValue; readonly error?: JsonObject }
  /** Waits for a request of the server and leaves it open. */
  | { readonly ignore: string }

/** One recorded conversation with a server, described so that it can be held with any other. */
export interface Scenario {
  readonly name: string
  /** `methods`: the server of the 23 methods; `tools`: the MCP server with `codex` and `codex-reply`. */
  readonly server: 'methods' | 'tools'
  /** The versions that it is recorded from. */
  readonly versions: readonly ObservedVersion[]
  readonly settings: ScenarioSettings
  /** One for each request to the model, in order. */
  readonly model: readonly ScenarioAnswer[]
  readonly steps: readonly Step[]
}
