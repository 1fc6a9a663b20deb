import { fileURLToPath } from 'node:url'
import { type JsonObject, within } from '@parley/protocol'
import { type FrameLink, RemoteFailure } from '@parley/rpc/frame'
import { uriOf } from '../api/file-uri.ts'
import { outputOf } from '../api/output-frame.ts'
import { eventOf, outputIn } from '../api/wire-event.ts'
import { type ExecBackend, type ExecSpec, retentionOf } from '../backend/exec-spec.ts'
import { ExecutorLink, FailedAgain } from './executor-link.ts'
import { RemoteProcess } from './remote-process.ts'
import { notStarted, SessionRefused } from './session-refused.ts'

/** What ending the processes may take when an executor is closed. */
const CLOSE_MS = 2_000
/** How much of the name of a notification is shown: it is as long as the server likes. */
const SHOWN_CHARS = 80

export interface ExecutorOptions {
  readonly dial: () => Promise<FrameLink>
  readonly clientName: string
  readonly detachMs?: number
  /** Whether `dial` can be called again to take up where a cut connection ended. Default true; false for a pipe. */
  readonly resumes?: boolean
  /** How long it is tried to come back. */
  readonly recoveryMs?: number
  /** Which variables of the executor its processes get beside their own. Default none. */
  readonly inherit?: 'core' | 'none'
  readonly log?: (message: string) => void
}

/** Processes on another machine, or in another process, by Codex's process API. */
export interface Executor extends ExecBackend, AsyncDisposable {
  /** What the server says of itself. */
  readonly info: JsonObject
  /** Whether the session is lost for good: every operation fails, and only another executor can be opened. */
  readonly isLost: boolean
  /** Ends the processes that were started by this and the session with them. */
  close(): Promise<void>
}

/** Connects to an exec-server: ours, or the real `codex exec-server`. Throws `WireError`, or `SessionRefused`. */
export async function openExecutor(options: ExecutorOptions): Promise<Executor> {
  const { log = () => undefined, resumes = true, inherit = 'none', ...rest } = options
  const processes = new Map<string, RemoteProcess>()
  const link = await ExecutorLink.open({
    ...rest,
    log,
    resumes,
    seen: (text) => {
      const told = outputIn(text)
      if (told !== undefined) processes.get(told.processId)?.pushed(told.event)
      return told !== undefined
    },
    frame: (parts) => {
      const told = outputOf(parts)
      if (told === undefined) return log('a frame was passed over')
      processes.get(told.processId)?.pushed(told.event)
    },
    notified: (method, params) => {
      const told = eventOf(method, params)
      if (told === undefined) return log(`a notification was passed over: ${JSON.stringify(method.slice(0, SHOWN_CHARS))}`)
      processes.get(told.processId)?.pushed(told.event)
    },
    cut: () => {
      for (const process of processes.values()) process.suspend()
    },
    resumed: () => {
      for (const process of processes.values()) void process.catchUp()
    },
    lost: (error) => {
      for (const process of processes.values()) process.fail(error.message)
      processes.clear()
    },
  }).catch((error: unknown) => {
    throw error instanceof RemoteFailure ? new SessionRefused(error) : error
  })
  const close = async (): Promise<void> => {
    const ending = [...processes.values()].map((process) => process.terminate({ force: true }))
    await within(Promise.allSettled(ending), CLOSE_MS)
    link.close('it was closed')
  }
  return {
    info: link.info,
    get isLost() {
      return link.isLost
    },
    start: async (spec) => {
      const kept = retentionOf(spec)
      const retention = kept.onFull === 'hold' && !link.can('outputHold') ? { ...kept, onFull: 'drop' as const } : kept
      const process = new RemoteProcess(spec.processId, link, retention)
      // Before it is asked for: what the process says may come together with the answer.
      if (processes.has(spec.processId)) throw new TypeError(`process ${spec.processId} already exists`)
      processes.set(spec.processId, process)
      try {
        await start(link, { ...spec, ...retention }, inherit)
      } catch (error) {
        processes.delete(spec.processId)
        throw notStarted(error)
      }
      process.started()
      void process.ended.then(() => processes.delete(spec.processId))
      return process
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The folder that an exec-server works in. What it says of it may be anything. */
export function executorFolder({ info: { cwd } }: Pick<Executor, 'info'>): string {
  try {
    return typeof cwd === 'string' ? fileURLToPath(cwd) : '/'
  } catch {
    return '/'
  }
}

async function start(link: ExecutorLink, spec: ExecSpec, inherit: 'core' | 'none'): Promise<void> {
  const { argv, cwd, env, ...rest } = spec
  const envPolicy = { inherit, ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] }
  const params = { ...rest, argv: [...argv], cwd: uriOf(cwd), env: { ...env }, envPolicy, arg0: null }
  try {
    await link.ask('process/start', params)
  } catch (error) {
    // The answer to the first try was lost with its connection, and the process is there.
    if (!(error instanceof FailedAgain && error.message.endsWith('already exists'))) throw error
  }
}
