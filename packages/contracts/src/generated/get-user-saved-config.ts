// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `getUserSavedConfig`, as Codex 0.44.0 takes or sends them. */
export type GetUserSavedConfigParams = Readonly<Record<string, unknown>> | null

/** The result of it. */
export interface GetUserSavedConfigResult {
  readonly config: GetUserSavedConfigResultConfig
}

export interface GetUserSavedConfigResultConfig {
  readonly approvalPolicy?: 'untrusted' | 'on-request' | 'on-failure' | 'never'
  readonly sandboxMode?: 'read-only' | 'workspace-write' | 'danger-full-access'
  readonly sandboxSettings?: GetUserSavedConfigResultConfigSandboxSettings
  readonly model?: string
  readonly modelReasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
  readonly modelReasoningSummary?: 'auto' | 'concise' | 'detailed' | 'none'
  readonly modelVerbosity?: 'low' | 'medium' | 'high'
  readonly tools?: GetUserSavedConfigResultConfigTools
  readonly profile?: string
  readonly profiles: Readonly<Record<string, GetUserSavedConfigResultConfigProfilesValue>>
}

export interface GetUserSavedConfigResultConfigSandboxSettings {
  readonly writableRoots: readonly string[]
  readonly networkAccess?: boolean | null
  readonly excludeTmpdirEnvVar?: boolean | null
  readonly excludeSlashTmp?: boolean | null
}

export interface GetUserSavedConfigResultConfigTools {
  readonly webSearch?: boolean | null
  readonly viewImage?: boolean | null
}

export interface GetUserSavedConfigResultConfigProfilesValue {
  readonly model: string | null
  readonly modelProvider: string | null
  readonly approvalPolicy: 'untrusted' | 'on-request' | 'on-failure' | 'never' | null
  readonly modelReasoningEffort: 'minimal' | 'low' | 'medium' | 'high' | null
  readonly modelReasoningSummary: 'auto' | 'concise' | 'detailed' | 'none' | null
  readonly modelVerbosity: 'low' | 'medium' | 'high' | null
  readonly chatgptBaseUrl: string | null
}

/** The same as the documents declare it. */
export type DeclaredGetUserSavedConfigParams = Readonly<Record<string, never>>

/** The result of it. */
export interface DeclaredGetUserSavedConfigResult {
  readonly config: DeclaredGetUserSavedConfigResultConfig
}

export interface DeclaredGetUserSavedConfigResultConfig {
  readonly approvalPolicy?: 'untrusted' | 'on-request' | 'on-failure' | 'never'
  readonly sandboxMode?: 'read-only' | 'workspace-write' | 'danger-full-access'
  readonly sandboxSettings?: DeclaredGetUserSavedConfigResultConfigSandboxSettings
  readonly model?: string
  readonly modelReasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
  readonly modelReasoningSummary?: 'auto' | 'concise' | 'detailed' | 'none'
  readonly modelVerbosity?: 'low' | 'medium' | 'high'
  readonly tools?: DeclaredGetUserSavedConfigResultConfigTools
  readonly profile?: string
  readonly profiles: Readonly<Record<string, DeclaredGetUserSavedConfigResultConfigProfilesValue>>
}

export interface DeclaredGetUserSavedConfigResultConfigSandboxSettings {
  readonly writableRoots?: readonly string[]
  readonly networkAccess?: boolean
  readonly excludeTmpdirEnvVar?: boolean
  readonly excludeSlashTmp?: boolean
}

export interface DeclaredGetUserSavedConfigResultConfigTools {
  readonly webSearch?: boolean
  readonly viewImage?: boolean
}

export interface DeclaredGetUserSavedConfigResultConfigProfilesValue {
  readonly model?: string
  readonly modelProvider?: string
  readonly approvalPolicy?: 'untrusted' | 'on-request' | 'on-failure' | 'never'
  readonly modelReasoningEffort?: 'minimal' | 'low' | 'medium' | 'high'
  readonly modelReasoningSummary?: 'auto' | 'concise' | 'detailed' | 'none'
  readonly modelVerbosity?: 'low' | 'medium' | 'high'
  readonly chatgptBaseUrl?: string
}
