// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `loginChatGpt`, as Codex 0.44.0 takes or sends them. */
export type LoginChatGptParams = Readonly<Record<string, unknown>> | null

/** The result of it. */
export interface LoginChatGptResult {
  readonly loginId: string
  readonly authUrl: string
}

/** The same as the documents declare it. */
export type DeclaredLoginChatGptParams = Readonly<Record<string, unknown>>

/** The result of it. */
export interface DeclaredLoginChatGptResult {
  readonly loginId: string
  readonly authUrl: string
  readonly expiresAt?: string
}
