import {
  type Commands,
  type Conversation,
  type ConversationListener,
  type ConversationOptions,
  ConversationUnknown,
  type Engine,
  type Gate,
  type MountServer,
  type NewsSource,
  type Transcripts,
} from '@parley/agent'
import { messageOf, type PreparedModel, settlesWithin } from '@parley/protocol'
import { type CommandDoor, openSandboxCommands, type SandboxCommands } from '@parley/workspace'
import type { TurnLimits } from './turn-limits.ts'
import type { TurnPorts } from './turn-ports.ts'
import type { EngineSettings } from './turn-settings.ts'

export interface AgentEngineOrder {
  readonly ports: TurnPorts
  readonly limits: TurnLimits
  /** What an engine in a box has of its own. */
  readonly ownFolder: string
  readonly settings: EngineSettings
  readonly prepared: PreparedModel
  /** The one to go on with. */
  readonly conversation: string | undefined
  readonly transcripts: Transcripts
  readonly gate: Gate
  /** The compositor, as this engine mounts it. */
  readonly server: MountServer
  readonly socketPath?: string
  /** The compositor, as commands in a box reach it. */
  readonly door?: CommandDoor
  readonly listener: ConversationListener
  readonly news: NewsSource
  /** Whether the turn that is taken is over. */
  readonly isOver: () => boolean
  readonly warn: (message: string) => void
}

/** The name under which an engine has the compositor; its tools keep their own. */
export const COMPOSED = 'agent'
/** As long as the compositor itself waits for a call, and a little for the way. */
const TOOL_TIMEOUT_MS = 61 * 60_000

/** An engine that is open for an agent, in the agent's one conversation. */
export class AgentEngine {
  readonly settings: EngineSettings
  readonly conversation: Conversation
  #isNew: boolean
  readonly #close: () => Promise<void>
  readonly #key: { prepared: PreparedModel }

  private constructor(
    settings: EngineSettings,
    { conversation, isNew }: Conversed,
    parts: { readonly key: { prepared: PreparedModel }; readonly close: () => Promise<void> },
  ) {
    this.settings = settings
    this.conversation = conversation
    this.#isNew = isNew
    this.#key = parts.key
    this.#close = parts.close
  }

  /** Opens commands and engine, and goes on with the conversation that there is. */
  static async open(order: AgentEngineOrder): Promise<AgentEngine> {
    const { ports, limits, settings, transcripts, gate, socketPath, warn } = order
    const key = { prepared: order.prepared }
    const commands = settings.engine === 'mini' ? await openCommands(order) : undefined
    let engine: Engine | undefined
    const close = async (): Promise<void> => {
      const closing = [engine?.close(), commands?.close()].flatMap((ending) =>
        ending === undefined ? [] : [settlesWithin(ending, limits.interruptMs)],
      )
      if ((await Promise.all(closing)).includes(false)) warn('the engine does not end; it is left to itself')
    }
    try {
      engine = await ports.engineFor(() => key.prepared, {
        engine: settings.engine,
        ownFolder: order.ownFolder,
        folder: settings.folder,
        unlinked: true,
        reach: settings.reach,
        transcripts,
        gate,
        ...(commands === undefined ? {} : { commands }),
        ...(socketPath === undefined ? {} : { mountSocket: socketPath }),
      })
      return new AgentEngine(settings, await converse(engine, order), { key, close })
    } catch (error) {
      await close()
      throw error
    }
  }

  /** False: an earlier turn began its conversation. */
  get isNew(): boolean {
    return this.#isNew
  }

  /** The key of the turn that comes next, in the conversation that the one before has begun. */
  renew(prepared: PreparedModel): void {
    this.#key.prepared = prepared
    this.#isNew = false
  }

  close(): Promise<void> {
    return this.#close()
  }
}

interface Conversed {
  readonly conversation: Conversation
  readonly isNew: boolean
}

async function converse(engine: Engine, order: AgentEngineOrder): Promise<Conversed> {
  const { settings, server, listener, news, isOver, conversation: left, warn } = order
  const options: ConversationOptions = {
    model: settings.model,
    instructions: settings.instructions,
    folder: settings.folder,
    unlinked: true,
    approvals: 'never',
    // They are kept by the gateway, and whoever holds the agent next waits for the same.
    keepsApprovals: true,
    news,
    isOver,
    reach: settings.reach,
    network: false,
    mounts: [{ name: COMPOSED, server, plain: true, required: true, toolTimeoutMs: TOOL_TIMEOUT_MS }],
  }
  if (left !== undefined) {
    try {
      return { conversation: await engine.resume(left, options, listener), isNew: false }
    } catch (error) {
      // Another engine's, as a rule.
      const why = error instanceof ConversationUnknown ? `${settings.engine} does not know it` : messageOf(error)
      warn(`the conversation cannot be gone on with, another is begun: ${why}`)
    }
  }
  return { conversation: await engine.open(options, listener), isNew: true }
}

/** The engine's commands; none where no sandbox holds them. */
async function openCommands({
  ports,
  settings,
  door,
  warn,
}: AgentEngineOrder): Promise<(Commands & SandboxCommands) | undefined> {
  const hidden = [ports.dataFolder, ports.cacheFolder]
  try {
    const sandbox = await ports.sandbox()
    const { readable, environment } = ports.toolchains(hidden)
    const { folder } = settings
    const reached = door === undefined ? {} : { door }
    return openSandboxCommands({
      sandbox,
      folder,
      unlinked: true,
      hidden,
      readable,
      environment,
      warn,
      network: false,
      ...reached,
    })
  } catch (error) {
    warn(`no command can be run on this host: ${messageOf(error)}; parley sandbox check says more`)
    return undefined
  }
}
