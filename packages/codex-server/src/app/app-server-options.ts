import type { Readable, Writable } from 'node:stream'
import type { LazyBackend } from '../backend/lazy-backend.ts'
import type { UserAgentFacts } from '../mcp/user-agent.ts'

/** Whose 23 methods are served: those of `codex mcp` of 0.42, or those of `codex app-server` of 0.44. */
export const APP_DIALECTS = ['0.42', '0.44'] as const
export type AppDialect = (typeof APP_DIALECTS)[number]

export interface AppServerOptions {
  readonly input: Readable
  readonly output: Writable
  readonly dialect: AppDialect
  /** Opened when the first request needs it. */
  readonly backend: LazyBackend
  readonly agent: UserAgentFacts
  /** Absolute: where paths that are not begin. */
  readonly folder: string
  /** One line for people, on stderr. Never holds what a client sent as a secret. */
  readonly note: (line: string) => void
  /** A new UUID each time. */
  readonly newId: () => string
}
