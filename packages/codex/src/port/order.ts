import * as z from 'zod'
import type { InputPart, MountSpec } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'

/** When Codex asks before it does something. Newer versions have dropped some of these words; each dialect translates. */
export const ApprovalPolicy = z.enum(['untrusted', 'on-failure', 'on-request', 'never'])
export type ApprovalPolicy = z.infer<typeof ApprovalPolicy>

/** What commands and patches may touch. */
export const SandboxMode = z.enum(['read-only', 'workspace-write', 'danger-full-access'])
export type SandboxMode = z.infer<typeof SandboxMode>

/** The same with its details, as a turn or a one-off command may set it. */
export interface SandboxPolicy {
  readonly mode: SandboxMode
  /** The three below mean something for `workspace-write` alone. */
  readonly writableRoots?: readonly string[]
  readonly networkAccess?: boolean
  readonly excludeTmpdirEnvVar?: boolean
  readonly excludeSlashTmp?: boolean
}

/** How a conversation is to begin. What is left out is as the user's configuration has it, else as the engine does by itself. */
export interface OpenOrder {
  readonly model?: string
  /** A profile of the configuration. */
  readonly profile?: string
  /** Absolute. */
  readonly folder?: string
  readonly approvalPolicy?: ApprovalPolicy
  readonly sandbox?: SandboxMode
  /** Whether commands have a network, for `workspace-write`. */
  readonly network?: boolean
  /** Settings that win over the configuration file, by dotted key. */
  readonly config?: JsonObject
  /** Instead of the engine's own instructions. */
  readonly baseInstructions?: string
  /** Beside them. */
  readonly developerInstructions?: string
  readonly compactPrompt?: string
  readonly effort?: string
  readonly planTool?: boolean
  readonly patchTool?: boolean
  /** Beside those of the configuration. */
  readonly mounts?: readonly MountSpec[]
}

/** What is said in one turn, and what holds for this turn alone. */
export interface TurnOrder {
  readonly input: readonly InputPart[]
  readonly folder?: string
  readonly approvalPolicy?: ApprovalPolicy
  readonly sandboxPolicy?: SandboxPolicy
  readonly model?: string
  readonly effort?: string
  readonly summary?: string
  readonly outputSchema?: JsonObject
}
