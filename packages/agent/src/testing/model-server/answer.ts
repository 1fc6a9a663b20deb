import type { JsonObject } from '@parley/protocol'

/** One thing a model says. All of it is JSON, so that answers can be handed to a server in a process of its own. */
export type Piece =
  | { readonly text: string }
  /** `raw`: the thoughts themselves instead of a summary. `encrypted` is what the provider wants to see again. */
  | { readonly reasoning: string; readonly encrypted?: string; readonly raw?: boolean }
  /** A call of a function; text as arguments goes out as it is, also when it is no JSON. `id` is the call's, made when left out; `extra` stands beside it. */
  | { readonly call: string; readonly arguments: JsonObject | string; readonly id?: string; readonly extra?: JsonObject }
  /** A call of a tool that takes free text; on the Responses wire alone. */
  | { readonly custom: string; readonly input: string; readonly id?: string }
  | { readonly refusal: string }

export interface ReplyUsage {
  readonly input: number
  readonly output: number
  readonly cached?: number
  readonly reasoning?: number
}

/** How an answer ends: well, at a bound, with an error in the stream, or without saying so. */
export type ReplyEnd =
  | 'completed'
  | 'max_output_tokens'
  | 'content_filter'
  | 'missing'
  | { readonly failed: ReplyError }
  | { readonly error: ReplyError }

export interface ReplyError {
  readonly code: string | null
  readonly message: string
}

/** How the bytes of a stream go out. Without any of these they go out at once, in one write. */
export interface Manner {
  /** Characters per delta of text, reasoning and arguments. */
  readonly deltaCharacters?: number
  /** Bytes per write: characters, lines and events are torn apart. */
  readonly writeBytes?: number
  readonly lineEnd?: '\n' | '\r\n'
  /** Comments between events, as proxies send them. */
  readonly keepAlives?: boolean
  /** Raw text put before the event of that number; 0 is the first. */
  readonly inserts?: readonly { readonly before: number; readonly text: string }[]
  /** Between two events. */
  readonly pauseMs?: number
  /** Before the head of the answer. */
  readonly holdMs?: number
  /** The connection is destroyed after so many events, or so many bytes of the body; 0 is right after the head. */
  readonly cutAfterEvents?: number
  readonly cutAfterBytes?: number
  /** Nothing more comes after so many events, and the connection stays open. */
  readonly stallAfterEvents?: number
}

/** What a model answers. */
export interface ModelReply {
  readonly pieces: readonly Piece[]
  /** Left out: counted from request and pieces. Null: the provider tells none. */
  readonly usage?: ReplyUsage | null
  readonly end?: ReplyEnd
  /** One JSON body, although a stream was asked for. */
  readonly whole?: boolean
  readonly headers?: Readonly<Record<string, string>>
  readonly manner?: Manner
}

/** An answer that is no stream: a status, with any body. */
export interface StatusReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonObject | string
}

export type Answer = ModelReply | StatusReply | { readonly silent: true } | { readonly cut: true }

/** The words of the real service for its usual failures. */
export const FAILURES = {
  rateLimited: (retryAfter: Readonly<Record<string, string>> = {}): StatusReply =>
    errorReply(429, 'rate_limit_exceeded', 'Rate limit reached for requests', { type: 'requests', headers: retryAfter }),
  outOfQuota: (): StatusReply =>
    errorReply(429, 'insufficient_quota', 'You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
    }),
  serverError: (status = 500): StatusReply =>
    errorReply(status, null, 'The server had an error while processing your request. Sorry about that!', {
      type: 'server_error',
    }),
  badKey: (key: string): StatusReply => errorReply(401, 'invalid_api_key', `Incorrect API key provided: ${key}.`),
  contextOverflow: (): StatusReply =>
    errorReply(400, 'context_length_exceeded', 'Your input exceeds the context window of this model.', { param: 'input' }),
} as const

export function errorReply(
  status: number,
  code: string | null,
  message: string,
  more: { readonly type?: string; readonly param?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): StatusReply {
  const error = { message, type: more.type ?? 'invalid_request_error', param: more.param ?? null, code }
  return { status, headers: more.headers ?? {}, body: { error } }
}
