import { messageOf, type JsonObject } from '@parley/protocol'
import { type Caller, isAtLeast, isLogLevel, type Link, type LogLevel } from '@parley/rpc'
import type { MountedServer } from './mounted-server.ts'

/** Which log messages each session wants, and what the mounts are asked for so that all of them get theirs. */
export class LogLevels<C extends Caller> {
  readonly #links = new Map<string, Link<C>>()
  readonly #levels = new Map<string, LogLevel>()
  readonly #log: (level: 'info' | 'warn', message: string) => void

  constructor(log: (level: 'info' | 'warn', message: string) => void) {
    this.#log = log
  }

  opened(link: Link<C>): void {
    this.#links.set(link.id, link)
  }
  closed(link: Link<C>): void {
    this.#links.delete(link.id)
    this.#levels.delete(link.id)
  }

  of(linkId: string): LogLevel | undefined {
    return this.#levels.get(linkId)
  }

  set(level: LogLevel, link: Link<C>, mounts: readonly MountedServer<C>[]): void {
    this.#levels.set(link.id, level)
    for (const mount of mounts) this.tell(mount)
  }

  /** Asks a mount for messages from the lowest level on that anybody wants. Nobody waits for it: logs are advice. */
  tell(mount: MountedServer<C>): void {
    const levels = [...this.#levels.values()]
    const [first, ...others] = levels
    if (first === undefined || mount.upstream.client === undefined) return
    const lowest = others.reduce((low, level) => (isAtLeast(level, low) ? low : level), first)
    mount.upstream
      .setLevel(lowest)
      .catch((error: unknown) => this.#log('warn', `mount ${mount.name}: logging/setLevel failed: ${messageOf(error)}`))
  }

  /** What a mount says outside any call is for everybody, unless they are different people. */
  say(method: string, params: JsonObject): void {
    if (method !== 'notifications/message') return
    const links = [...this.#links.values()]
    if (new Set(links.map(({ caller }) => caller.key)).size > 1) return
    const { level } = params
    // These are advice: a link whose reader lags does not get them.
    for (const link of links)
      if (isLogLevel(level) && isAtLeast(level, this.#levels.get(link.id) ?? 'debug')) link.notify(method, params)
  }
}
