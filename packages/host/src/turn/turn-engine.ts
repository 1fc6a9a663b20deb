import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Compositor, ConversationListener, Gate, MountServer, NewsSource } from '@parley/agent'
import { type AgentClaim, type EngineName, type PreparedModel, unlessAborted } from '@parley/protocol'
import {
  type CommandDoor,
  openCommandDoor,
  openServiceSocket,
  removeTree,
  type ServiceSocket,
  shortSocketPath,
} from '@parley/workspace'
import { AgentEngine } from './agent-engine.ts'
import type { AgentTranscript } from './agent-transcript.ts'
import { ComposedTools } from './composed-tools.ts'
import { BOX_CALLER, boxService } from './box-service.ts'
import type { ToolOrigin } from './event-line.ts'
import type { TurnLimits } from './turn-limits.ts'
import type { TurnPorts } from './turn-ports.ts'
import { type AgentSpec, folderOf, instructionsOf, isSame, reachOf, type EngineSettings } from './turn-settings.ts'

export interface TurnEngineOptions {
  readonly ports: TurnPorts
  readonly limits: TurnLimits
  readonly claim: AgentClaim
  /** As the gateway has it now. */
  readonly spec: () => AgentSpec
  readonly compositor: Compositor
  readonly transcript: AgentTranscript
  readonly gate: Gate
  /** Whether a program may be run whatever it is told to do. */
  readonly mayRun: (program: string) => boolean
  readonly listener: ConversationListener
  readonly news: NewsSource
  readonly isOver: () => boolean
  readonly warn: (message: string) => void
  readonly version: string
}

/** Why a turn has no engine, with a code for its failure. */
export class EngineUnfit extends Error {
  readonly code: string
  constructor(code: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'EngineUnfit'
    this.code = code
  }
}

/** The engine of an agent, kept from turn to turn for as long as the agent is set as it was. */
export class TurnEngine {
  readonly #options: TurnEngineOptions
  readonly #tools: ComposedTools
  /** What an engine in a box has of its own, under this claim alone. */
  readonly #ownFolder: string
  #open: AgentEngine | undefined
  #socket: ServiceSocket | undefined
  #door: CommandDoor | undefined
  #hasOwnFolder = false

  constructor(options: TurnEngineOptions) {
    this.#options = options
    this.#tools = new ComposedTools(options.compositor, options.version)
    const { claim, ports } = options
    this.#ownFolder = join(ports.dataFolder, 'agents', claim.agent_id, '.engine', claim.claim_id)
  }

  /** Whether it is one that runs in a box of its own, and writes down what it did at the end of a turn. */
  get isBoxed(): boolean {
    return this.#open?.settings.engine === 'codex'
  }

  originOf(tool: ToolOrigin): ToolOrigin {
    return this.#tools.originOf(tool)
  }

  /** What the next turn is to be taken with. Throws `EngineUnfit`, or what the signal says. */
  async settings({ model }: PreparedModel, signal: AbortSignal): Promise<EngineSettings> {
    const { ports, spec, mayRun } = this.#options
    const tools = await unlessAborted(this.#tools.digest(signal), signal)
    const now = spec()
    const engine = now.engine ?? ports.defaultEngine
    const folder = await folderOf(now, ports).catch((error: unknown) => {
      throw new EngineUnfit('folder_refused', error)
    })
    return { engine, model, instructions: instructionsOf(now, this.#tools.banner), folder, reach: reachOf(engine, mayRun), tools }
  }

  /** The engine with these settings and this key: the one that is open, or one that goes on in the conversation. */
  async ready(settings: EngineSettings, prepared: PreparedModel, signal: AbortSignal): Promise<AgentEngine> {
    if (this.#open !== undefined && isSame(this.#open.settings, settings)) {
      this.#open.renew(prepared)
      return this.#open
    }
    const before = this.#open?.conversation.id
    await this.close()
    const way = await this.#way(settings.engine)
    const { ports, limits, transcript, gate, listener, news, isOver, warn } = this.#options
    const opening = AgentEngine.open({
      ports,
      limits,
      settings,
      prepared,
      conversation: before ?? (await transcript.standing()).conversation,
      transcripts: transcript.transcripts,
      gate,
      ownFolder: this.#ownFolder,
      ...way,
      listener,
      news,
      isOver,
      warn,
    })
    try {
      this.#open = await unlessAborted(opening, AbortSignal.any([signal, AbortSignal.timeout(limits.openMs)]))
      return this.#open
    } catch (error) {
      // One that comes after all is wanted by nobody.
      opening.then((late) => late.close()).catch(() => undefined)
      signal.throwIfAborted()
      const isMissing = error instanceof Error && 'code' in error && error.code === 'engine_missing'
      throw new EngineUnfit(isMissing ? 'engine_missing' : 'engine_failed', error)
    }
  }

  /** Ends the engine; the next turn opens another. */
  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.close()
  }

  async end(): Promise<void> {
    await this.close()
    await this.#socket?.close()
    await this.#door?.close()
    await this.#tools.close()
    if (this.#hasOwnFolder) await removeTree(dirname(this.#ownFolder)).catch(() => undefined)
  }

  /**
   * How this engine has the compositor: right here, or for one in a box by a socket that it relays to. Commands of an engine that is not in a box have a
   * box of their own, and a door.
   */
  async #way(engine: EngineName): Promise<Way> {
    const relayed = this.#options.ports.relayedServers?.[engine]
    if (relayed === undefined) {
      this.#door ??= await this.#openDoor()
      return { server: this.#tools.server, door: this.#door }
    }
    this.#socket ??= await this.#openSocket()
    const { socketPath } = this.#socket
    return { server: relayed(socketPath), socketPath }
  }

  #openSocket(): Promise<ServiceSocket> {
    return this.#listening('mounts.sock', (socketPath) => openServiceSocket({ service: this.#options.compositor, socketPath }))
  }

  #openDoor(): Promise<CommandDoor> {
    const service = boxService(this.#options.compositor)
    return this.#listening('box.sock', (socketPath) => openCommandDoor({ service, caller: BOX_CALLER, socketPath }))
  }

  /** Something that listens in our own folder, where nobody else is. */
  async #listening<T extends { close(): Promise<void> }>(name: string, open: (socketPath: string) => Promise<T>): Promise<T> {
    // What hosts before left that died: theirs was another claim.
    if (!this.#hasOwnFolder) await removeTree(dirname(this.#ownFolder))
    await mkdir(this.#ownFolder, { recursive: true, mode: 0o700 })
    this.#hasOwnFolder = true
    const { path: socketPath, remove } = shortSocketPath(this.#ownFolder, name)
    const opened = await open(socketPath).catch((error: unknown) => {
      remove()
      throw error
    })
    const close = async (): Promise<void> => {
      await opened.close()
      remove()
    }
    return { ...opened, close }
  }
}

interface Way {
  readonly server: MountServer
  readonly socketPath?: string
  readonly door?: CommandDoor
}
