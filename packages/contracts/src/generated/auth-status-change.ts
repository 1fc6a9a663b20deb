// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `authStatusChange`, as Codex 0.44.0 takes or sends them. */
export interface AuthStatusChangeParams {
  readonly authMethod?: 'apikey' | 'chatgpt'
}

/** The same as the documents declare it. */
export interface DeclaredAuthStatusChangeParams {
  readonly authenticated: boolean
  readonly method?: 'apiKey' | 'chatGpt' | 'none'
  readonly timestamp?: string
}
