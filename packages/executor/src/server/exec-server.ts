import { randomUUID } from 'node:crypto'
import type { FrameLink } from '@parley/rpc/frame'
import { DRAINING, refusal } from '../api/error-code.ts'
import { DETACH_MS } from '../api/params.ts'
import type { ExecBackend } from '../backend/exec-spec.ts'
import { ServedLink } from './served-link.ts'
import type { Whereabouts } from './environment.ts'
import { fileMethods } from './file/file-methods.ts'
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from './server-limits.ts'
import { type RunningEntry, Session } from './session.ts'

export interface ExecServerOptions {
  readonly backend: ExecBackend
  readonly where: Whereabouts
  /** The folders that `fs/*` may touch; without any all of it is refused. */
  readonly roots?: readonly string[]
  readonly limits?: Partial<ServerLimits>
  readonly log?: (message: string) => void
}

/** Runs processes for whoever connects, by Codex's process API. */
export interface ExecServer extends AsyncDisposable {
  /** Serves a connection. `detachMs` is for wires that nobody can come back on: it counts whatever the client asks for. */
  serve(link: FrameLink, detachMs?: number): void
  /** Whether new sessions are refused. Those there are go on, and can be taken up again. */
  drain(isDraining: boolean): void
  /** What there is to do now. */
  load(): ExecLoad
  /** Settles when no connection is left. */
  idle(): Promise<void>
  /** Ends every session with its processes. */
  close(): Promise<void>
}

export interface ExecLoad {
  readonly sessions: number
  /** Those that run, the oldest first; also those of a session that has ended, until they are gone. */
  readonly processes: readonly RunningEntry[]
}

export function openExecServer(options: ExecServerOptions): ExecServer {
  const limits = { ...DEFAULT_SERVER_LIMITS, ...options.limits }
  const log = options.log ?? (() => undefined)
  const files = fileMethods(options.roots ?? [], limits)
  const sessions = new Map<string, Session>()
  /** Nobody can come back to them, and not all of their processes are gone. */
  const ending = new Set<Session>()
  const allUnderWay = { bytes: 0 }
  let connections = 0
  const waiting: (() => void)[] = []

  let isDraining = false
  const running = (): readonly RunningEntry[] => [...sessions.values(), ...ending].flatMap((session) => session.running())

  const newSession = (detachMs: number): Session => {
    if (isDraining) throw refusal('invalidRequest', 'this executor is being drained: it takes no new sessions', DRAINING)
    if (sessions.size >= limits.sessions)
      throw refusal('invalidRequest', `${limits.sessions} sessions are open; no more are taken`)
    const id = randomUUID()
    const session: Session = new Session({
      id,
      backend: options.backend,
      limits,
      detachMs,
      hasRoom: () => running().length < limits.processes,
      onEnd: () => {
        sessions.delete(id)
        ending.add(session)
      },
      onGone: () => ending.delete(session),
    })
    sessions.set(id, session)
    return session
  }
  const resumed = (id: string): Session => {
    const session = sessions.get(id)
    if (session === undefined) throw refusal('invalidRequest', `unknown session id ${id}`)
    return session
  }
  const close = async (): Promise<void> => {
    await Promise.all([...sessions.values()].map((session) => session.end({ force: true })))
  }
  return {
    serve: (link, fixedDetachMs) => {
      connections += 1
      void new ServedLink({
        link,
        limits,
        where: options.where,
        files,
        allUnderWay,
        log,
        sessionFor: ({ resumeSessionId, detachMs = DETACH_MS }) =>
          resumeSessionId === undefined ? newSession(fixedDetachMs ?? detachMs) : resumed(resumeSessionId),
        onEnd: () => {
          connections -= 1
          if (connections === 0) for (const done of waiting.splice(0)) done()
        },
      })
    },
    drain: (told) => {
      isDraining = told
    },
    load: () => ({ sessions: sessions.size, processes: running().toSorted((one, other) => one.sinceMs - other.sinceMs) }),
    idle: () => (connections === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close,
    [Symbol.asyncDispose]: close,
  }
}
