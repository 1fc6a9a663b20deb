// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `loginChatGptComplete`, as Codex 0.44.0 takes or sends them. */
export interface LoginChatGptCompleteParams {
  readonly loginId: string
  readonly success: boolean
  readonly error?: string
}

/** The same as the documents declare it. */
export interface DeclaredLoginChatGptCompleteParams {
  readonly loginId: string
  readonly success: boolean
  readonly error?: string
  readonly timestamp?: string
}
