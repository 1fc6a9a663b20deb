import type { JsonObject, ModelWire, ReasoningEffort, TokenUsage } from '@parley/protocol'
import type { NextTry, TurnFailure } from '@parley/agent'

/** Where a model is and how it is spoken to. */
export interface ModelEndpoint {
  readonly wire: ModelWire
  /** `/responses` or `/chat/completions` is put behind it. */
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * One item of a conversation in the form of the Responses API: `message`, `reasoning`, `function_call`,
 * `function_call_output`, … exactly as the provider gave it. The chat wire translates from and to this.
 */
export type ModelItem = JsonObject & { readonly type: string }

export interface ModelTool {
  /** As the model sees it: `[a-zA-Z0-9_-]{1,64}`. */
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject
  /** Whether the schema fits a provider's strict mode. */
  readonly strict: boolean
}

export interface ModelRequest {
  readonly model: string
  readonly instructions: string
  readonly input: readonly ModelItem[]
  readonly tools: readonly ModelTool[]
  readonly parallelToolCalls: boolean
  readonly effort?: ReasoningEffort
  readonly outputSchema?: JsonObject
  readonly maxOutputTokens?: number
  /** The same for all requests of one conversation, so that the provider's cache is found again. */
  readonly cacheKey?: string
}

/** What is told while an answer comes in. Deltas of an answer that is cut and asked for again are followed by `restarted`. */
export interface ModelListener {
  messageDelta(item: string, delta: string): void
  reasoningDelta(item: string, part: number, delta: string, raw: boolean): void
  reasoningPart(item: string, part: number): void
  /** Another try begins. What was said so far does not count. */
  retry(next: NextTry): void
  /** Tokens of one request, also of one that failed, told once per request. */
  usage(call: string, usage: TokenUsage, estimated: boolean): void
  /** One request came to its end, told once, also when it failed. */
  exchanged(exchange: ModelExchange): void
}

/**
 * What became of one request. It holds no bodies: the request follows from `ModelRequest` and `leftOut`, the answer is its
 * items; a transcript that has those has every exchange without saying anything twice. No keys.
 */
export interface ModelExchange {
  readonly call: string
  readonly attempt: number
  /** The HTTP status; null when there was none. */
  readonly status: number | null
  readonly requestId: string | null
  readonly outcome: 'answered' | 'failed' | 'cut' | 'aborted'
  readonly error: string | null
  /** What of the request was not sent, because the provider turned out not to know it. */
  readonly leftOut: readonly string[]
  readonly durationMs: number
  readonly firstTokenMs: number | null
}

export type ModelAnswer =
  /** `items` go into the conversation as they are. `refusal`: the model's own words for declining. */
  | { readonly kind: 'answered'; readonly items: readonly ModelItem[]; readonly refusal: string | null }
  | { readonly kind: 'failed'; readonly code: TurnFailure; readonly message: string }
  | { readonly kind: 'aborted' }

/** Asks a model, over one wire. Never rejects for anything a provider does. */
export interface ModelClient {
  sample(request: ModelRequest, listener: ModelListener, signal: AbortSignal): Promise<ModelAnswer>
}
