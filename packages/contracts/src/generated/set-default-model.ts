// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `setDefaultModel`, as Codex 0.44.0 takes or sends them. */
export interface SetDefaultModelParams {
  readonly model?: string | null
  readonly reasoningEffort?: 'minimal' | 'low' | 'medium' | 'high' | null
}

/** The result of it. */
export type SetDefaultModelResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export interface DeclaredSetDefaultModelParams {
  readonly model: string | null
  readonly reasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
}

/** The result of it. */
export interface DeclaredSetDefaultModelResult {
  readonly success: boolean
  readonly message?: string
}
