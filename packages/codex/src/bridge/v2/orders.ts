import type { InputPart } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import type { ApprovalPolicy, OpenOrder, SandboxPolicy, TurnOrder } from '../../port/order.ts'
import { objectOf, textOf, textOrNull } from './fields.ts'
import { mountConfig } from './mount-config.ts'

/** The parameters that `thread/start` and `thread/resume` share. Throws `BackendError`. */
export function threadParams(order: OpenOrder): JsonObject {
  const { model, folder, approvalPolicy, sandbox, baseInstructions, developerInstructions } = order
  const config = configOf(order)
  return {
    ...(model === undefined ? {} : { model }),
    ...(folder === undefined ? {} : { cwd: folder }),
    ...(approvalPolicy === undefined ? {} : { approvalPolicy: policyWord(approvalPolicy) }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(baseInstructions === undefined ? {} : { baseInstructions }),
    ...(developerInstructions === undefined ? {} : { developerInstructions }),
    ...(Object.keys(config).length === 0 ? {} : { config }),
  }
}

function configOf({
  config = {},
  profile,
  effort,
  network,
  compactPrompt,
  planTool,
  mounts = [],
  approvalPolicy,
}: OpenOrder): JsonObject {
  return {
    ...(profile === undefined ? {} : { profile }),
    ...(effort === undefined ? {} : { model_reasoning_effort: effort }),
    ...(network === undefined ? {} : { 'sandbox_workspace_write.network_access': network }),
    ...(compactPrompt === undefined ? {} : { compact_prompt: compactPrompt }),
    ...(planTool === undefined ? {} : { 'tools.update_plan': { enabled: planTool } }),
    ...mountConfig(mounts, approvalPolicy),
    ...config,
  }
}

/** `on-failure` is gone; what comes nearest asks before it goes beyond the sandbox. */
const policyWord = (policy: ApprovalPolicy): string => (policy === 'on-failure' ? 'on-request' : policy)

export function inputOf(input: readonly InputPart[]): JsonObject[] {
  return input.map((part) =>
    part.type === 'text' ? { type: 'text', text: part.text, text_elements: [] } : { type: 'image', url: part.url },
  )
}

/** What a turn may set for itself. */
const FIELDS = ['cwd', 'approvalPolicy', 'sandboxPolicy', 'model', 'effort', 'summary'] as const

/**
 * What a turn sets holds for the turns after it too, as far as Codex is concerned: so what it set is put back with the
 * next turn that does not set it again.
 */
export class TurnOverrides {
  readonly #own: JsonObject
  #overridden = new Set<string>()

  /** `opened` is the answer to `thread/start` or `thread/resume`: what the conversation has by itself. */
  constructor(opened: JsonObject) {
    this.#own = {
      cwd: textOf(opened, 'cwd'),
      // One that is not told asks: a turn that never asked must not stay.
      approvalPolicy: opened['approvalPolicy'] ?? 'untrusted',
      sandboxPolicy: objectOf(opened, 'sandbox'),
      model: textOf(opened, 'model'),
      // There is no word for none; this is what Codex's models have by themselves.
      effort: textOrNull(opened, 'reasoningEffort') ?? 'medium',
      summary: 'auto',
    }
  }

  /** The parameters of `turn/start` that stand beside the input. */
  next(order: TurnOrder): JsonObject {
    const set = settingsOf(order)
    const params: JsonObject = {}
    for (const field of FIELDS) {
      const value = set[field] ?? (this.#overridden.has(field) ? this.#own[field] : undefined)
      if (value !== undefined && value !== null) params[field] = value
    }
    // Until it is known whether Codex took the turn, it may have.
    for (const field of Object.keys(set)) this.#overridden.add(field)
    return { ...params, ...(order.outputSchema === undefined ? {} : { outputSchema: order.outputSchema }) }
  }

  /** Codex took the turn. One that it refused neither set anything nor put anything back. */
  taken(order: TurnOrder): void {
    this.#overridden = new Set(Object.keys(settingsOf(order)))
  }
}

function settingsOf({ folder, approvalPolicy, sandboxPolicy, model, effort, summary }: TurnOrder): JsonObject {
  return {
    ...(folder === undefined ? {} : { cwd: folder }),
    ...(approvalPolicy === undefined ? {} : { approvalPolicy: policyWord(approvalPolicy) }),
    ...(sandboxPolicy === undefined ? {} : { sandboxPolicy: newerSandbox(sandboxPolicy) }),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(summary === undefined ? {} : { summary }),
  }
}

/** A sandbox policy as the versions from 0.108 on read it, in turns and for single commands. */
export function newerSandbox({
  mode,
  writableRoots,
  networkAccess,
  excludeTmpdirEnvVar,
  excludeSlashTmp,
}: SandboxPolicy): JsonObject {
  switch (mode) {
    case 'danger-full-access':
      return { type: 'dangerFullAccess' }
    case 'read-only':
      return { type: 'readOnly', networkAccess: false }
    case 'workspace-write':
      return {
        type: 'workspaceWrite',
        writableRoots: [...(writableRoots ?? [])],
        networkAccess: networkAccess ?? false,
        excludeTmpdirEnvVar: excludeTmpdirEnvVar ?? false,
        excludeSlashTmp: excludeSlashTmp ?? false,
      }
  }
}
