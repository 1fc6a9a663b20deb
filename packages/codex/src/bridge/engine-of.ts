import {
  type ApprovalMode,
  type Conversation,
  type ConversationListener,
  type ConversationOptions,
  type Engine,
  type Reach,
  checkOptions,
} from '@parley/agent'
import type { ModelPrices } from '@parley/protocol'
import type { BackedConversation } from '../port/backed-conversation.ts'
import type { ApprovalPolicy, OpenOrder, SandboxMode } from '../port/order.ts'
import { EngineConversation } from './engine-conversation.ts'
import type { Bridge } from './open-bridge.ts'

export interface EngineOfOptions {
  readonly now: () => number
  /** For budgets of money; left out, or null for a model, they are not enforced, and a warning says so. */
  readonly prices?: (model: string) => ModelPrices | null
  /** Whether closing the engine ends Codex, as when left out, or only the conversations that this engine holds. */
  readonly closes?: 'bridge' | 'conversations'
}

/** Codex asks before whatever it does not know to be harmless; it has no word for asking before everything. */
const POLICIES: Readonly<Record<ApprovalMode, ApprovalPolicy>> = {
  always: 'untrusted',
  'on-request': 'on-request',
  never: 'never',
}
const SANDBOXES: Readonly<Record<Reach, SandboxMode>> = {
  'read-only': 'read-only',
  'workspace-write': 'workspace-write',
  'full-access': 'danger-full-access',
}

/** A real Codex as an engine of the port. */
export function engineOf(bridge: Bridge, { now, prices = () => null, closes = 'bridge' }: EngineOfOptions): Engine {
  const held = new Set<Conversation>()
  const begin = async (
    options: ConversationOptions,
    listener: ConversationListener,
    open: (order: OpenOrder, listener: ConversationListener) => Promise<BackedConversation>,
  ): Promise<Conversation> => {
    checkOptions(options)
    const closed = (): void => void held.delete(conversation)
    const conversation = new EngineConversation({ options, listener, prices: prices(options.model), now, closed })
    conversation.attach(await open(orderOf(options), conversation))
    held.add(conversation)
    return conversation
  }
  return {
    name: 'codex',
    open: (options, listener) => begin(options, listener, (order, heard) => bridge.open(order, heard)),
    resume: (id, options, listener) => begin(options, listener, (order, heard) => bridge.resume({ id }, order, heard)),
    close: async () => {
      if (closes === 'bridge') await bridge.close()
      else await Promise.all([...held].map((conversation) => conversation.close()))
    },
  }
}

function orderOf({ model, instructions, folder, approvals, reach, network, mounts, effort }: ConversationOptions): OpenOrder {
  return {
    model,
    folder,
    approvalPolicy: POLICIES[approvals],
    sandbox: SANDBOXES[reach],
    network,
    // Beside Codex's own, which say how its tools are used; both go to the model anew after every compaction.
    developerInstructions: instructions,
    planTool: true,
    mounts,
    ...(effort === undefined ? {} : { effort }),
  }
}
