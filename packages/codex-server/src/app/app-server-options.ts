import type { Readable, Writable } from 'node:stream'
import type { LazyBackend } from '../backend/lazy-backend.ts'

/** Whose 23 methods are served: those of `codex mcp` of 0.42, or those of `codex app-server` of 0.44. */
export const APP_DIALECTS = ['0.42', '0.44'] as const
export type AppDialect = (typeof APP_DIALECTS)[number]

/** What a user agent says beside the client's own name. */
export interface UserAgentFacts {
  /** System and machine, as in `Debian 12.0.0; x86_64`. */
  readonly platform: string
  /** As in `xterm`. */
  readonly terminal: string
  /** Ours, as in `parley/0.1.0`. */
  readonly product: string
}

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
