import type { SteadyClient } from '@parley/client'
import type { Model } from '@parley/protocol'
import type { Client } from '@parley/rpc/browser'

/** Knows which models are played from a file. Read anew with every connection. */
export class ScriptModels {
  readonly #changed = new Set<() => void>()
  readonly #unfollow: () => void
  #models: readonly Model[] = []

  constructor(link: SteadyClient) {
    this.#unfollow = link.follow({ connected: (client) => void this.#read(client) })
  }

  /** Whether nothing but a script goes by that name, on that channel if one is given. */
  has(name: string | null, channel: string | null = null): boolean {
    const named = this.#models.filter(({ model, upstream_channel }) => {
      return model === name && (channel === null || upstream_channel === channel)
    })
    return named.length > 0 && named.every(({ script }) => script)
  }

  onChange(listener: () => void): () => void {
    this.#changed.add(listener)
    return () => this.#changed.delete(listener)
  }

  close(): void {
    this.#unfollow()
  }

  async #read(client: Client): Promise<void> {
    // Without the list nothing is marked here; the job's own log still says what played.
    const answer = await client.callTool('models.list', { live: false }).catch(() => undefined)
    if (answer === undefined) return
    this.#models = answer.items
    for (const listener of this.#changed) listener()
  }
}
