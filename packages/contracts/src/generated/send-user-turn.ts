// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `sendUserTurn`, as Codex 0.44.0 takes or sends them. */
export interface SendUserTurnParams {
  readonly conversationId: string
  readonly items: readonly SendUserTurnParamsItemsItem[]
  readonly cwd: string
  readonly approvalPolicy: 'untrusted' | 'on-request' | 'on-failure' | 'never'
  readonly sandboxPolicy:
    | SendUserTurnParamsSandboxPolicyDangerFullAccess
    | SendUserTurnParamsSandboxPolicyReadOnly
    | SendUserTurnParamsSandboxPolicyWorkspaceWrite
  readonly model: string
  readonly effort?: 'minimal' | 'low' | 'medium' | 'high' | null
  readonly summary: 'auto' | 'concise' | 'detailed' | 'none'
}

export type SendUserTurnParamsItemsItem =
  | SendUserTurnParamsItemsItemText
  | SendUserTurnParamsItemsItemImage
  | SendUserTurnParamsItemsItemLocalImage

export interface SendUserTurnParamsItemsItemText {
  readonly type: 'text'
  readonly data: SendUserTurnParamsItemsItemTextData
}

export interface SendUserTurnParamsItemsItemTextData {
  readonly text: string
}

export interface SendUserTurnParamsItemsItemImage {
  readonly type: 'image'
  readonly data: SendUserTurnParamsItemsItemImageData
}

export interface SendUserTurnParamsItemsItemImageData {
  readonly image_url: string
}

export interface SendUserTurnParamsItemsItemLocalImage {
  readonly type: 'localImage'
  readonly data: SendUserTurnParamsItemsItemLocalImageData
}

export interface SendUserTurnParamsItemsItemLocalImageData {
  readonly path: string
}

export interface SendUserTurnParamsSandboxPolicyDangerFullAccess {
  readonly mode: 'danger-full-access'
}

export interface SendUserTurnParamsSandboxPolicyReadOnly {
  readonly mode: 'read-only'
}

export interface SendUserTurnParamsSandboxPolicyWorkspaceWrite {
  readonly mode: 'workspace-write'
  readonly writable_roots?: readonly string[]
  readonly network_access?: boolean
  readonly exclude_tmpdir_env_var?: boolean
  readonly exclude_slash_tmp?: boolean
}

/** The result of it. */
export type SendUserTurnResult = Readonly<Record<string, never>>

/** The same as the documents declare it. */
export interface DeclaredSendUserTurnParams {
  readonly conversationId: string
  readonly items: readonly DeclaredSendUserTurnParamsItemsItem[]
  readonly cwd?: string
  readonly approvalPolicy?: 'untrusted' | 'on-request' | 'on-failure' | 'never'
  readonly sandboxPolicy?: 'read-only' | 'workspace-write' | 'danger-full-access'
  readonly model?: string
  readonly effort?: 'low' | 'medium' | 'high'
  readonly summary?: 'auto' | 'always' | 'never'
}

export interface DeclaredSendUserTurnParamsItemsItem {
  readonly type: 'text' | 'image'
  readonly text?: string
  readonly imageUrl?: string
}

/** The result of it. */
export interface DeclaredSendUserTurnResult {
  readonly accepted: boolean
}
