import type { ConversationListener } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import type { BackedConversation, ConversationRef, OpenOrder, SandboxPolicy } from '@parley/codex/port'

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
