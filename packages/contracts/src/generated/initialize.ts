// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `initialize`, as Codex 0.44.0 takes or sends them. */
export interface InitializeParams {
  readonly clientInfo: InitializeParamsClientInfo
}

export interface InitializeParamsClientInfo {
  readonly name: string
  readonly title?: string | null
  readonly version: string
}

/** The result of it. */
export interface InitializeResult {
  readonly userAgent: string
}

/** The same as the documents declare it. */
export interface DeclaredInitializeParams {
  readonly clientInfo: DeclaredInitializeParamsClientInfo
}

export interface DeclaredInitializeParamsClientInfo {
  readonly name: string
  readonly title?: string | null
  readonly version: string
}

/** The result of it. */
export interface DeclaredInitializeResult {
  readonly userAgent: string
}
