import type { ResourceChange } from '@parley/agent'
import { AGENT_LIMITS, messageOf, ToolError } from '@parley/protocol'
import type { AgentOfGateway } from './gateway-calls.ts'
import { pause } from './pause.ts'

/** What the gateway says of it again, however often it is asked. */
const REFUSED: ReadonlySet<string> = new Set(['invalid_argument', 'not_found'])
const isRefused = (error: unknown): boolean => error instanceof ToolError && REFUSED.has(error.code)

interface Telling {
  isDue: boolean
  /** Its server says that it has changed. */
  isCertain: boolean
}

export interface NewsWatchOptions extends AgentOfGateway {
  readonly listens: readonly string[]
  readonly log: (level: 'info' | 'warn', message: string) => void
  readonly changed: () => void
}

/** Tells the gateway of changes of what the agent subscribed to: of each resource one at a time, and not more often than need be. */
export class NewsWatch {
  readonly #options: NewsWatchOptions
  readonly #uris: Set<string>
  /** Those that are being told, and whether one has changed again since. */
  readonly #telling = new Map<string, Telling>()

  constructor(options: NewsWatchOptions) {
    this.#options = options
    this.#uris = new Set(options.listens)
  }

  get isEmpty(): boolean {
    return this.#uris.size === 0
  }

  async listen(uri: string, listens: boolean, digest: string | null): Promise<void> {
    const { call, claim, signal, changed } = this.#options
    await call('host.agent_listen', { ...claim, uri, listens, digest }, signal)
    if (listens) this.#uris.add(uri)
    else this.#uris.delete(uri)
    changed()
  }

  /** What the compositor tells of what is watched. */
  readonly shelf = {
    known: (uri: string, digest: string | null): Promise<void> => this.listen(uri, true, digest),
    updated: (uri: string, _version: number, change: ResourceChange): void => this.#updated(uri, change),
  }

  #updated(uri: string, { isCertain, read }: ResourceChange): void {
    const telling = this.#telling.get(uri)
    if (telling !== undefined) {
      telling.isDue = true
      telling.isCertain ||= isCertain
      return
    }
    const begun = { isDue: true, isCertain }
    this.#telling.set(uri, begun)
    void this.#tell(uri, begun, read).finally(() => this.#telling.delete(uri))
  }

  async #tell(uri: string, telling: Telling, read: ResourceChange['read']): Promise<void> {
    const { call, claim, signal, log } = this.#options
    while (telling.isDue && !signal.aborted) {
      const { isCertain } = telling
      Object.assign(telling, { isDue: false, isCertain: false })
      try {
        const digest = await read().catch(() => null)
        signal.throwIfAborted()
        await call('host.tell_news', { ...claim, uri, digest, certain: isCertain }, signal)
      } catch (error) {
        if (signal.aborted) return
        if (isRefused(error)) return log('warn', `that ${uri} changed is not told: ${messageOf(error)}`)
        Object.assign(telling, { isDue: true, isCertain: telling.isCertain || isCertain })
        log('warn', `that ${uri} changed cannot be told: ${messageOf(error)}`)
      }
      await pause(AGENT_LIMITS.tellNewsMs, signal)
    }
  }
}
