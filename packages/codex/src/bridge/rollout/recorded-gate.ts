import { type JsonValue, isJsonObject } from '@parley/protocol'
import { ApprovalPolicy, type OpenOrder, SandboxMode } from '../../port/order.ts'
import { readRollout, type RolloutRecords } from './read-rollout.ts'

/** From the strictest to the loosest. */
const POLICIES: readonly ApprovalPolicy[] = ['untrusted', 'on-request', 'on-failure', 'never']
const MODES: readonly SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access']

/** A word for when to ask. One that is not known asks always: it may stand for anything. */
export function policyOf(word: JsonValue | undefined): ApprovalPolicy {
  const known = ApprovalPolicy.safeParse(word)
  return known.success ? known.data : 'untrusted'
}

/** The mode of a sandbox policy: `mode` up to 0.58, `type` since. One that is not known touches nothing. */
export function modeOf(policy: JsonValue | undefined): SandboxMode {
  const known = SandboxMode.safeParse(isJsonObject(policy) ? (policy['type'] ?? policy['mode']) : policy)
  return known.success ? known.data : 'read-only'
}

/** What a conversation began with, as Codex up to 0.77 tells it to the model before anybody has said anything. */
export function environmentOf({ said }: RolloutRecords): {
  readonly approvalPolicy: ApprovalPolicy | undefined
  readonly sandboxMode: SandboxMode | undefined
  readonly networkAccess: boolean | undefined
} {
  // Further down it could be a person who wrote it.
  const text = said.slice(0, BEFORE_PEOPLE).find(([first = '']) => first.startsWith('<environment_context>'))?.[0] ?? ''
  const told = (name: string): string | undefined => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]
  const [policy, mode, network] = [told('approval_policy'), told('sandbox_mode'), told('network_access')]
  return {
    approvalPolicy: policy === undefined ? undefined : policyOf(policy),
    sandboxMode: mode === undefined ? undefined : modeOf(mode),
    networkAccess: network === undefined ? undefined : network === 'enabled',
  }
}
/** Instructions of the folder, and then the environment. */
const BEFORE_PEOPLE = 2

/**
 * The order with which a conversation of an earlier process is resumed. Codex takes what the order does not say from the
 * configuration of today, which may never ask; what was asked for when the conversation began is in its file alone. An
 * order that says anything about it is somebody who changes it.
 */
export async function withRecordedGate(order: OpenOrder, path: string): Promise<OpenOrder> {
  const { approvalPolicy, sandbox, profile, config = {} } = order
  if (profile !== undefined || config['profile'] !== undefined) return order
  const keepsPolicy = approvalPolicy === undefined && config['approval_policy'] === undefined
  const keepsSandbox = sandbox === undefined && config['sandbox_mode'] === undefined
  if (!keepsPolicy && !keepsSandbox) return order
  const gate = strictestOf(await readRollout(path))
  return {
    ...order,
    // The loosest words are left to the configuration: it may be stricter by now.
    ...(keepsPolicy && gate.policy !== 'never' ? { approvalPolicy: gate.policy } : {}),
    ...(keepsSandbox && gate.mode !== undefined && gate.mode !== 'danger-full-access' ? { sandbox: gate.mode } : {}),
  }
}

/** A turn may have had a looser gate of its own, so that the strictest of all is the one to keep. Without any it asks. */
function strictestOf(records: RolloutRecords): { readonly policy: ApprovalPolicy; readonly mode: SandboxMode | undefined } {
  const { approvalPolicy, sandboxMode } = environmentOf(records)
  const policies = new Set(records.contexts.map((context) => policyOf(context['approval_policy'])))
  const modes = new Set(records.contexts.map((context) => modeOf(context['sandbox_policy'])))
  if (approvalPolicy !== undefined) policies.add(approvalPolicy)
  if (sandboxMode !== undefined) modes.add(sandboxMode)
  return {
    policy: POLICIES.find((policy) => policies.has(policy)) ?? 'untrusted',
    mode: MODES.find((mode) => modes.has(mode)),
  }
}
