// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `cancelLoginChatGpt`, as Codex 0.44.0 takes or sends them. */
export interface CancelLoginChatGptParams {
  readonly loginId: string
}

/** The result of it. */
export type CancelLoginChatGptResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export interface DeclaredCancelLoginChatGptParams {
  readonly loginId: string
}

/** The result of it. */
export interface DeclaredCancelLoginChatGptResult {
  readonly success: boolean
}
