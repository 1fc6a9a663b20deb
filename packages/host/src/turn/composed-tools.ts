import { createHash } from 'node:crypto'
import { type Compositor, linkedServer, type MountServer } from '@parley/agent'
import { type Client, connectClient } from '@parley/rpc'
import { composedOrigin, type ToolOrigin } from './event-line.ts'
import { COMPOSED } from './agent-engine.ts'
import { ENGINE_CALLER } from './engine-calls.ts'

/** How long a turn waits for mounts that are starting; tools of one that takes longer are there from a later turn on. */
const STARTING_MS = 30_000

/** The tools of an agent's mounts, as its engine has them. */
export class ComposedTools {
  readonly server: MountServer
  readonly #compositor: Compositor
  readonly #version: string
  #client: Promise<Client> | undefined

  constructor(compositor: Compositor, version: string) {
    this.#compositor = compositor
    this.#version = version
    this.server = linkedServer(compositor, ENGINE_CALLER)
  }

  get banner(): string | undefined {
    return this.#compositor.instructions
  }

  /** What stands for all tools as they are now: another text when one came, went or changed. Starts mounts that nobody needed yet. */
  async digest(signal: AbortSignal): Promise<string> {
    await this.#list(signal)
    await this.#started(signal)
    return createHash('sha256')
      .update(JSON.stringify(await this.#list(signal)))
      .digest('hex')
  }

  /** Where a tool lives that an engine calls. */
  originOf({ mount, tool }: ToolOrigin): ToolOrigin {
    if (mount !== COMPOSED) return { mount, tool }
    return composedOrigin(
      tool,
      this.#compositor.mounts().map(({ name, plain: isPlain }) => ({ name, isPlain })),
    )
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined)
    await client?.close()
  }

  async #list(signal: AbortSignal): Promise<unknown> {
    if (this.server.kind !== 'linked') return []
    const clientInfo = { name: 'parley-host', version: this.#version }
    this.#client ??= connectClient(this.server.open(), { clientInfo })
    return (await this.#client).listTools({ signal })
  }

  async #started(signal: AbortSignal): Promise<void> {
    const settled = Promise.withResolvers<void>()
    const look = (): void => {
      if (!this.#compositor.mounts().some(({ state }) => state === 'starting')) settled.resolve()
    }
    const stop = this.#compositor.watchMounts(look)
    const timer = setTimeout(settled.resolve, STARTING_MS)
    const give = (): void => settled.resolve()
    signal.addEventListener('abort', give, { once: true })
    look()
    await settled.promise
    signal.removeEventListener('abort', give)
    clearTimeout(timer)
    stop()
  }
}
