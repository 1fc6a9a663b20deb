import { isAbsolute, resolve } from 'node:path'
import type { ApprovalMode, ConversationOptions, Reach } from '@parley/agent'
import { type JsonObject, ReasoningEffort } from '@parley/protocol'
import { type ApprovalPolicy, BackendError, type OpenOrder, type TurnOrder } from '@parley/codex/port'
import { REACH, unlinked } from '../reach.ts'
import { CODING_INSTRUCTIONS } from './instructions.ts'
import { type Variables, mountsOf } from './mounts-of.ts'
import type { Recorded } from './recorded.ts'
import type { Configuration, Profile } from './settings-file.ts'

/** How a conversation is held, with the word for its effort as clients know it. */
export interface Settled {
  readonly options: ConversationOptions
  readonly effort: string | null
}

export interface SettleContext {
  readonly config: Configuration
  /** MCP servers in it that are not the person's own. */
  readonly foreignServers: ReadonlySet<string>
  /** Of the process, for orders that name no folder. */
  readonly folder: string
  readonly defaultModel: string
  readonly variables: Variables
  /** Of a conversation that goes on. */
  readonly recorded?: Recorded
}

const APPROVALS: Readonly<Record<ApprovalPolicy, ApprovalMode>> = {
  untrusted: 'always',
  'on-failure': 'on-request',
  'on-request': 'on-request',
  never: 'never',
}
/** Words of Codex's for which a model of ours knows the nearest alone. */
const EFFORTS: ReadonlyMap<string, ReasoningEffort> = new Map([
  ['none', 'low'],
  ['minimal', 'low'],
  ['max', 'xhigh'],
  ...ReasoningEffort.options.map((effort) => [effort, effort] as const),
])

/** What is ordered wins, then what the conversation had before, then the profile, then the file. Throws `BackendError`. */
export function settle(order: OpenOrder, context: SettleContext): Settled {
  const { config, recorded } = context
  const profile = profileOf(config, order.profile ?? config.profile)
  const before = recordedOptions(recorded)
  const reach =
    order.sandbox === undefined
      ? (before.reach ?? REACH[profile.sandbox_mode ?? config.sandbox_mode ?? 'read-only'])
      : REACH[order.sandbox]
  const effort =
    order.effort ??
    (recorded === undefined ? undefined : (order.config?.['model_reasoning_effort'] ?? before.effort)) ??
    // As with Codex: a profile wins over single settings, wherever those come from.
    profile.model_reasoning_effort ??
    config.model_reasoning_effort
  const approvals =
    order.approvalPolicy === undefined
      ? (before.approvals ?? APPROVALS[profile.approval_policy ?? config.approval_policy ?? 'on-request'])
      : APPROVALS[order.approvalPolicy]
  return settledWith(
    {
      model: order.model ?? recorded?.model ?? profile.model ?? config.model ?? context.defaultModel,
      instructions: instructionsOf(order, config, recorded),
      folder:
        order.folder === undefined && before.folder !== undefined
          ? stillUnlinked(before.folder)
          : folderOf(order.folder ?? context.folder, context.folder),
      approvals,
      reach,
      network: networkOf(reach, order.network ?? config.sandbox_workspace_write?.network_access ?? false),
      mounts: [...mountsOf(config.mcp_servers ?? {}, context.variables, context.foreignServers), ...(order.mounts ?? [])],
    },
    typeof effort === 'string' ? effort : null,
  )
}

/** The same conversation with what holds for one turn. */
export function settleTurn(base: Settled, order: TurnOrder): Settled {
  const { options } = base
  const policy = order.sandboxPolicy
  const reach = policy === undefined ? options.reach : REACH[policy.mode]
  const { effort: _, ...rest } = options
  return settledWith(
    {
      ...rest,
      model: order.model ?? options.model,
      folder: order.folder === undefined ? options.folder : folderOf(order.folder, options.folder),
      approvals: order.approvalPolicy === undefined ? options.approvals : APPROVALS[order.approvalPolicy],
      reach,
      network: policy === undefined ? options.network : networkOf(reach, policy.networkAccess ?? false),
    },
    order.effort ?? base.effort,
  )
}

/** Whether two are held in the same way, so that one can stand for the other. */
export function isSame(one: Settled, other: Settled): boolean {
  const key = ({ options: { mounts: _, instructions: __, outputSchema: ___, budget: ____, ...rest } }: Settled): string =>
    JSON.stringify(Object.entries(rest).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  return key(one) === key(other)
}

function settledWith(options: Omit<ConversationOptions, 'effort'>, effort: string | null): Settled {
  if (effort === null) return { options, effort }
  const known = EFFORTS.get(effort)
  if (known === undefined)
    throw new BackendError(
      'invalid_request',
      `unknown reasoning effort \`${effort}\`, expected one of ${[...EFFORTS.keys()].join(', ')}`,
      {
        data: { param: 'effort' },
      },
    )
  return { options: { ...options, effort: known }, effort }
}

function profileOf(config: Configuration, name: string | undefined): Profile {
  if (name === undefined) return {}
  const profile = config.profiles?.[name]
  if (profile !== undefined) return profile
  throw new BackendError('invalid_request', `config profile \`${name}\` not found`, { data: { param: 'profile' } })
}

function instructionsOf(order: OpenOrder, config: Configuration, recorded: Recorded | undefined): string {
  const own = order.developerInstructions ?? config.developer_instructions
  if (order.baseInstructions === undefined && order.developerInstructions === undefined && recorded?.instructions !== undefined)
    return recorded.instructions
  const base = order.baseInstructions ?? CODING_INSTRUCTIONS
  return own === undefined || own === '' ? base : `${base}\n\n${own}`
}

function folderOf(folder: string, from: string): string {
  if (folder.includes('\0'))
    throw new BackendError('invalid_request', 'cwd must not hold a zero byte', { data: { param: 'cwd' } })
  return unlinked(isAbsolute(folder) ? folder : resolve(from, folder))
}

/** The folder of a conversation that goes on; somebody may have put a link there since. */
function stillUnlinked(folder: string): string {
  const now = unlinked(folder)
  if (now === folder) return folder
  throw new BackendError('invalid_request', `cwd of this conversation was ${folder}, which leads to ${now} by now: name cwd`, {
    data: { param: 'cwd' },
  })
}

/** Who may do anything has a network; who may only read has none. */
function networkOf(reach: Reach, asked: boolean): boolean {
  return reach === 'full-access' || (reach === 'workspace-write' && asked)
}

function recordedOptions(recorded: Recorded | undefined): {
  readonly folder?: string
  readonly approvals?: ApprovalMode
  readonly reach?: Reach
  readonly effort?: string
} {
  const { folder, approvals, reach, effort }: JsonObject = recorded?.options ?? {}
  const mode = Object.values(APPROVALS).find((known) => known === approvals)
  const far = Object.values(REACH).find((known) => known === reach)
  return {
    ...(typeof folder === 'string' ? { folder } : {}),
    ...(mode === undefined ? {} : { approvals: mode }),
    ...(far === undefined ? {} : { reach: far }),
    ...(typeof effort === 'string' ? { effort } : {}),
  }
}
