import {
  type Conversation,
  type ConversationListener,
  type ConversationOptions,
  type Engine,
  linkedServer,
  type MountServer,
} from '@parley/agent'
import { type EngineName, messageOf, settlesWithin, STATUS_SERVER_NAME } from '@parley/protocol'
import type { Caller, Service } from '@parley/rpc'
import { SelfTests } from '../status/self-test.ts'
import { statusService } from '../status/status-service.ts'
import type { JobVoice } from '../tester.ts'
import type { GenerateRequest, Prepared } from '../worker/generator.ts'
import { cleanTranscripts } from './clean-transcripts.ts'
import { CleanVoice } from './clean-voice.ts'
import type { EventLog } from './event-log.ts'
import type { GenerateLimits } from './generate-limits.ts'
import type { GeneratorOptions } from './generator-options.ts'
import { SOLUTION_SCHEMA } from './answer/output-schema.ts'
import { instructionsOf } from './prompt.ts'
import type { Redactor } from './redact.ts'
import {
  openSandboxCommands,
  openServiceSocket,
  type SandboxCommands,
  type ServiceSocket,
  shortSocketPath,
} from '@parley/workspace'
import { Stopped, orStopped } from './stopped.ts'

export interface AttemptEngineOrder {
  readonly options: GeneratorOptions
  readonly limits: GenerateLimits
  readonly engine: EngineName
  readonly prepared: Prepared
  readonly request: GenerateRequest
  /** The engine's working folder. */
  readonly folder: string
  readonly voice: JobVoice
  readonly log: EventLog
  readonly redactor: Redactor
  readonly listener: ConversationListener
  readonly signal: AbortSignal
}

/** Slightly more than the longest self-test, which may have to wait for another. */
const TOOL_TIMEOUT_MS = 660_000
const ENGINE: Caller = { key: 'engine' }

/** The engine of one attempt, in the job's conversation. */
export class AttemptEngine {
  readonly conversation: Conversation
  /** False: an earlier attempt or an earlier judge began it. */
  readonly isNew: boolean
  readonly #close: () => Promise<void>

  private constructor(conversation: Conversation, isNew: boolean, close: () => Promise<void>) {
    this.conversation = conversation
    this.isNew = isNew
    this.#close = close
  }

  /** Opens status server, commands and engine, and goes on with the conversation that there is. Throws `Stopped`. */
  static async open(order: AttemptEngineOrder): Promise<AttemptEngine> {
    const { options, limits, request, signal } = order
    const voice = new CleanVoice(order.voice, order.redactor, () => order.log.flush())
    const status = await openStatus(order, serviceOf(order, voice))
    const commands = openCommands(order)
    // What a command does must end also where the engine hangs.
    const stop = (): void => void commands?.close()
    signal.addEventListener('abort', stop, { once: true })
    let engine: Engine | undefined
    const close = async (): Promise<void> => {
      signal.removeEventListener('abort', stop)
      const ended = [engine?.close(), commands?.close()].flatMap((closing) =>
        closing === undefined ? [] : [settlesWithin(closing, limits.interruptMs)],
      )
      const inTime = await Promise.all(ended)
      await status.close()
      voice.end()
      if (inTime.includes(false)) order.log.warn('the engine does not end; it is left to itself')
    }
    try {
      const { folder, prepared, redactor } = order
      const made = options.engineFor(() => prepared, {
        engine: order.engine,
        ownFolder: request.ports.folder,
        folder,
        reach: 'workspace-write',
        transcripts: cleanTranscripts(request.ports.memory.transcripts, redactor),
        ...(commands === undefined ? {} : { commands }),
        ...(status.socketPath === undefined ? {} : { mountSocket: status.socketPath }),
      })
      engine = await orStopped(Promise.resolve(made), signal)
      const { conversation, isNew } = await converse(engine, order, status.server)
      return new AttemptEngine(conversation, isNew, close)
    } catch (error) {
      await close()
      throw error
    }
  }

  close(): Promise<void> {
    return this.#close()
  }
}

async function converse(
  engine: Engine,
  order: AttemptEngineOrder,
  server: MountServer,
): Promise<{ readonly conversation: Conversation; readonly isNew: boolean }> {
  const { prepared, request, folder, options, listener, signal, log } = order
  const { spec, ports } = request
  const conversationOptions: ConversationOptions = {
    model: prepared.model,
    instructions: instructionsOf(spec),
    folder,
    approvals: 'never',
    reach: 'workspace-write',
    network: options.network ?? false,
    mounts: [{ name: STATUS_SERVER_NAME, server, required: true, toolTimeoutMs: TOOL_TIMEOUT_MS }],
    effort: spec.reasoning_effort,
    outputSchema: SOLUTION_SCHEMA,
  }
  const left = ports.memory.conversation
  if (left !== undefined) {
    try {
      return { conversation: await orStopped(engine.resume(left, conversationOptions, listener), signal), isNew: false }
    } catch (error) {
      if (error instanceof Stopped) throw error
      const why = messageOf(error)
      log.warn(`the conversation cannot be gone on with, another is begun: ${why}`)
    }
  }
  return { conversation: await orStopped(engine.open(conversationOptions, listener), signal), isNew: true }
}

function serviceOf({ options, request, redactor, signal }: AttemptEngineOrder, voice: CleanVoice): Service {
  const { spec, inputFolder, attempt, claim, ports } = request
  const { tester, judgeName, memory } = ports
  const tested = (hash: string, ok: boolean): Promise<void> => memory.selfTested(hash, ok)
  const selfTests = new SelfTests({ tester, spec, inputFolder, judgeName, claim, attempt, signal, tested })
  const clean = (text: string): string => redactor.text(text)
  return statusService({ voice, clean, selfTests, spec, version: options.version, now: options.now })
}

interface Status {
  readonly server: MountServer
  readonly socketPath?: string
  close(): Promise<void>
}

/** The status server as the engine mounts it: a process that relays to a socket, or right here. */
async function openStatus({ options, engine, request }: AttemptEngineOrder, service: Service): Promise<Status> {
  const started = options.statusServers?.[engine]
  if (started === undefined) return { server: linkedServer(service, ENGINE), close: () => Promise.resolve() }
  const { path, remove } = shortSocketPath(request.ports.folder, `status-${request.attempt}.sock`)
  let socket: ServiceSocket
  try {
    socket = await openServiceSocket({ service, socketPath: path })
  } catch (error) {
    remove()
    throw error
  }
  const close = async (): Promise<void> => {
    await socket.close()
    remove()
  }
  return { server: started(path), socketPath: path, close }
}

function openCommands({ options, folder, request, log }: AttemptEngineOrder): SandboxCommands | undefined {
  const { sandbox, readable = [], environment = {} } = options
  if (sandbox === undefined || sandbox.report.driver === 'none' || sandbox.unheldWorkspace !== undefined) return undefined
  // The job's own folder holds all of its cases, and those beside it other jobs.
  const hidden = [...(options.hidden ?? []), request.ports.folder]
  const warn = (message: string): void => log.warn(message)
  return openSandboxCommands({ sandbox, folder, hidden, readable, environment, warn, network: options.network ?? false })
}
