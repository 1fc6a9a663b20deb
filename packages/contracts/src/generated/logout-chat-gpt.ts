// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `logoutChatGpt`, as Codex 0.44.0 takes or sends them. */
export type LogoutChatGptParams = Readonly<Record<string, unknown>> | null

/** The result of it. */
export type LogoutChatGptResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export type DeclaredLogoutChatGptParams = Readonly<Record<string, never>>

/** The result of it. */
export interface DeclaredLogoutChatGptResult {
  readonly success: boolean
  readonly message?: string
}
