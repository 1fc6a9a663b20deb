// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `getUserAgent`, as Codex 0.44.0 takes or sends them. */
export type GetUserAgentParams = Readonly<Record<string, unknown>> | null

/** The result of it. */
export interface GetUserAgentResult {
  readonly userAgent: string
}

/** The same as the documents declare it. */
export type DeclaredGetUserAgentParams = Readonly<Record<string, never>>

/** The result of it. */
export interface DeclaredGetUserAgentResult {
  readonly userAgent: string
}
