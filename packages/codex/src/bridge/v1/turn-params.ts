import type { InputPart } from '@parley/agent'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { OpenOrder, SandboxPolicy, TurnOrder } from '../../order.ts'
import { defined } from './open-params.ts'

/** What holds for a conversation when a turn says nothing else. */
export interface TurnDefaults {
  readonly cwd: string
  readonly approvalPolicy: string
  readonly sandboxPolicy: JsonObject
  readonly model: string
  readonly effort: string | null
  readonly summary: string
}

const OVERRIDES = ['folder', 'approvalPolicy', 'sandboxPolicy', 'model', 'effort', 'summary'] as const

/** Whether a turn is to differ from its conversation. */
export const hasOverrides = (order: TurnOrder): boolean => OVERRIDES.some((name) => order[name] !== undefined)

/** Input as these versions read it. */
export function itemsOf(input: readonly InputPart[]): JsonObject[] {
  return input.map((part) =>
    part.type === 'text' ? { type: 'text', data: { text: part.text } } : { type: 'image', data: { image_url: part.url } },
  )
}

/** `sendUserTurn` needs every setting, whether it differs or not. */
export function turnParams(order: TurnOrder, defaults: TurnDefaults): JsonObject {
  const effort = order.effort ?? defaults.effort ?? undefined
  return defined({
    cwd: order.folder ?? defaults.cwd,
    approvalPolicy: order.approvalPolicy ?? defaults.approvalPolicy,
    sandboxPolicy: order.sandboxPolicy === undefined ? defaults.sandboxPolicy : sandboxOf(order.sandboxPolicy),
    model: order.model ?? defaults.model,
    effort,
    summary: order.summary ?? defaults.summary,
  })
}

/** What a conversation does by itself: as it was opened, else as the user's configuration (`getUserSavedConfig`) has it. */
export function defaultsOf(order: OpenOrder, opened: { model: string; effort: string | null }, saved: JsonObject): TurnDefaults {
  const settings = isJsonObject(saved['sandboxSettings']) ? saved['sandboxSettings'] : {}
  const mode = order.sandbox ?? text(order.config?.['sandbox_mode']) ?? text(saved['sandboxMode']) ?? 'read-only'
  const networkAccess = order.network ?? order.config?.['sandbox_workspace_write.network_access'] ?? settings['networkAccess']
  return {
    // Codex resolves it against its own folder, which is where a conversation without one is.
    cwd: order.folder ?? '.',
    approvalPolicy:
      order.approvalPolicy ?? text(order.config?.['approval_policy']) ?? text(saved['approvalPolicy']) ?? 'on-request',
    sandboxPolicy: sandboxOf({
      mode: mode === 'danger-full-access' || mode === 'workspace-write' ? mode : 'read-only',
      networkAccess: networkAccess === true,
      writableRoots: Array.isArray(settings['writableRoots'])
        ? settings['writableRoots'].filter((root) => typeof root === 'string')
        : [],
      excludeTmpdirEnvVar: settings['excludeTmpdirEnvVar'] === true,
      excludeSlashTmp: settings['excludeSlashTmp'] === true,
    }),
    model: opened.model,
    effort: opened.effort,
    summary: text(order.config?.['model_reasoning_summary']) ?? 'auto',
  }
}

function sandboxOf(policy: SandboxPolicy): JsonObject {
  if (policy.mode !== 'workspace-write') return { mode: policy.mode }
  return {
    mode: policy.mode,
    writable_roots: [...(policy.writableRoots ?? [])],
    network_access: policy.networkAccess ?? false,
    exclude_tmpdir_env_var: policy.excludeTmpdirEnvVar ?? false,
    exclude_slash_tmp: policy.excludeSlashTmp ?? false,
  }
}

const text = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined)
