// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `getAuthStatus`, as Codex 0.44.0 takes or sends them. */
export interface GetAuthStatusParams {
  readonly includeToken?: boolean | null
  readonly refreshToken?: boolean | null
}

/** The result of it. */
export interface GetAuthStatusResult {
  readonly authMethod?: 'apikey' | 'chatgpt'
  readonly authToken?: string
  readonly requiresOpenaiAuth?: boolean
}

/** The same as the documents declare it. */
export interface DeclaredGetAuthStatusParams {
  readonly includeToken?: boolean
  readonly refreshToken?: boolean
}

/** The result of it. */
export interface DeclaredGetAuthStatusResult {
  readonly authenticated: boolean
  readonly method?: 'apiKey' | 'chatGpt' | 'none'
  readonly token?: string
  readonly expiresAt?: string
}
