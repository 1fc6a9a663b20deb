// Made from packages/contracts/contracts by npm run generate; do not edit.

/** Params of `execOneOffCommand`, as Codex 0.44.0 takes or sends them. */
export interface ExecOneOffCommandParams {
  readonly command: readonly string[]
  readonly timeoutMs?: number | null
  readonly cwd?: string | null
  readonly sandboxPolicy?:
    | ExecOneOffCommandParamsSandboxPolicyDangerFullAccess
    | ExecOneOffCommandParamsSandboxPolicyReadOnly
    | ExecOneOffCommandParamsSandboxPolicyWorkspaceWrite
    | null
}

export interface ExecOneOffCommandParamsSandboxPolicyDangerFullAccess {
  readonly mode: 'danger-full-access'
}

export interface ExecOneOffCommandParamsSandboxPolicyReadOnly {
  readonly mode: 'read-only'
}

export interface ExecOneOffCommandParamsSandboxPolicyWorkspaceWrite {
  readonly mode: 'workspace-write'
  readonly writable_roots?: readonly string[]
  readonly network_access?: boolean
  readonly exclude_tmpdir_env_var?: boolean
  readonly exclude_slash_tmp?: boolean
}

/** The result of it. */
export interface ExecOneOffCommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** The same as the documents declare it. */
export interface DeclaredExecOneOffCommandParams {
  readonly command: readonly string[]
  readonly timeoutMs?: number
  readonly cwd?: string
  readonly sandboxPolicy?: 'read-only' | 'workspace-write' | 'danger-full-access'
}

/** The result of it. */
export interface DeclaredExecOneOffCommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly output?: string
}
