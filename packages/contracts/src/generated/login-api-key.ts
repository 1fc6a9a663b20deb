// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `loginApiKey`, as Codex 0.44.0 takes or sends them. */
export interface LoginApiKeyParams {
  readonly apiKey: string
}

/** The result of it. */
export type LoginApiKeyResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export interface DeclaredLoginApiKeyParams {
  readonly apiKey: string
}

/** The result of it. */
export interface DeclaredLoginApiKeyResult {
  readonly success: boolean
  readonly message?: string
}
