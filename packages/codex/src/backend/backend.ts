import type { ConversationListener, InputPart, Turn } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import type { EventMessage } from '../event-message.ts'
import type { OpenOrder, SandboxPolicy, TurnOrder } from '../order.ts'

/**
 * What stands behind the compatible servers: conversations, and all else that their clients ask for. There are two: a
 * real Codex of any version, and our own engine with files of its own.
 */
export interface Backend {
  readonly engine: 'codex' | 'mini'
  /** Of the Codex behind it, else our own. */
  readonly version: string
  /** Throws `BackendError`. */
  open(order: OpenOrder, listener: ConversationListener): Promise<BackedConversation>
  /** Goes on with a conversation of an earlier process. Throws `ConversationUnknown` of `@parley/agent`, `BackendError`. */
  resume(which: ConversationRef, order: OpenOrder, listener: ConversationListener): Promise<BackedConversation>
  readonly conversations: ConversationShelf
  readonly settings: SavedSettings
  readonly account: Account
  readonly workspace: Workspace
  /** Ends every conversation and whatever runs for it. */
  close(): Promise<void>
}

/** By id, or by the file it is kept in. */
export type ConversationRef = { readonly id: string } | { readonly path: string }

/** One conversation, as a server of old clients needs it. Everything else is as the engine port has it. */
export interface BackedConversation {
  /** A UUID. */
  readonly id: string
  readonly model: string
  readonly effort: string | null
  /** The file it is kept in. */
  readonly rolloutPath: string
  /** Where it works, if the backend knows: paths that its engine tells may be below it. */
  readonly folder?: string
  /** What was said before, for a resumed one, in Codex's words: `user_message`, `agent_message`, `agent_reasoning`. */
  readonly initialMessages: readonly EventMessage[]
  readonly contextWindow: number | null
  /** Whether something was added to a turn that ended without reading it. The next turn begins with it, also one without input of its own. */
  readonly hasUnread?: boolean
  /** One turn at a time: throws `ConversationBusy`, `ConversationClosed`. */
  submit(order: TurnOrder): Turn
  steer(input: readonly InputPart[]): boolean
  interrupt(): Promise<void>
  close(): Promise<void>
}

export interface ConversationSummary {
  readonly conversationId: string
  readonly path: string
  /** The first thing that a person said. */
  readonly preview: string
  readonly timestamp: string | null
}

/** Conversations that are kept. */
export interface ConversationShelf {
  /** Newest first; those in which nobody has said anything are left out. */
  list(page: {
    readonly pageSize: number
    readonly cursor?: string
  }): Promise<{ readonly items: readonly ConversationSummary[]; readonly nextCursor: string | null }>
  /** Throws `BackendError` `invalid_request` for a path that is not one of ours. */
  archive(which: { readonly id: string; readonly path: string }): Promise<void>
}

/** The user's configuration file. */
export interface SavedSettings {
  /** In the shape of `getUserSavedConfig`. */
  saved(): Promise<JsonObject>
  /** A key that is null is taken out of the file. */
  setDefaultModel(model: string | null, effort: string | null): Promise<void>
}

export interface AuthStatus {
  readonly method: 'apikey' | 'chatgpt' | null
  readonly token: string | null
  /** Whether the provider that is set needs OpenAI's sign-in at all. */
  readonly requiresOpenaiAuth: boolean
}

/** Who is signed in. */
export interface Account {
  status(ask: { readonly includeToken: boolean; readonly refreshToken: boolean }): Promise<AuthStatus>
  email(): Promise<string | null>
  loginApiKey(apiKey: string): Promise<void>
  /** `done` settles once: signed in, failed, cancelled or replaced by another. Throws `BackendError` `unsupported` where nobody can. */
  loginChatGpt(): Promise<{ readonly loginId: string; readonly authUrl: string; readonly done: Promise<LoginEnd> }>
  /** Throws `BackendError` `invalid_request` for an id that nobody waits for. */
  cancelLogin(loginId: string): Promise<void>
  logout(): Promise<void>
}
export type LoginEnd = { readonly success: true } | { readonly success: false; readonly error: string }

export interface OneOffCommand {
  readonly argv: readonly string[]
  readonly timeoutMs?: number
  readonly folder?: string
  readonly sandboxPolicy?: SandboxPolicy
}

export interface FoundFile {
  readonly root: string
  readonly path: string
  readonly fileName: string
  readonly score: number
  readonly indices: readonly number[] | null
}

/** The machine's files and programs. */
export interface Workspace {
  diffToRemote(folder: string): Promise<{ readonly sha: string; readonly diff: string }>
  /** `signal` stops it: nobody waits for it any more. */
  exec(
    command: OneOffCommand,
    signal?: AbortSignal,
  ): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>
  search(ask: { readonly query: string; readonly roots: readonly string[] }, signal: AbortSignal): Promise<readonly FoundFile[]>
}

/**
 * `invalid_request`: what was asked for cannot be (an unknown profile, a path outside); `unsupported`: not on this
 * engine or this version, the message says what would do it; `failed`: it was tried and did not work; `lost`: the
 * process behind it is gone and could not be brought back; `too_many`: a bound, said in the message.
 */
export type BackendErrorCode = 'invalid_request' | 'unsupported' | 'failed' | 'lost' | 'too_many'

/** Something that a backend was asked for and could not do. The message is for the client. */
export class BackendError extends Error {
  readonly code: BackendErrorCode
  /** Of the parameter at fault, and the versions where that is the fault. */
  readonly data: JsonObject | undefined
  constructor(code: BackendErrorCode, message: string, more: { readonly data?: JsonObject; readonly cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.name = 'BackendError'
    this.code = code
    this.data = more.data
  }
}
