import type { SteadyClient } from '@parley/client'
import { type AgentId, ToolError } from '@parley/protocol'

export interface ReadMarkerOptions {
  readonly agent_id: AgentId
  /** The name under which this client's place is remembered. */
  readonly reader: string
  readonly signal: AbortSignal
  readonly warn: (words: string) => void
}

/** Tells the gateway how far was read: the newest place, one call at a time. A reader that may not is told once, and reads on. */
export class ReadMarker {
  readonly #caller: SteadyClient
  readonly #options: ReadMarkerOptions
  #wanted = 0
  #marked = 0
  #isRefused = false
  #running: Promise<void> | undefined

  constructor(caller: SteadyClient, options: ReadMarkerOptions) {
    this.#caller = caller
    this.#options = options
  }

  /** How far was read before, under this name. */
  async place(): Promise<number> {
    const { agent_id, reader, signal } = this.#options
    const { marker } = await this.#caller.call('chat.mark_read', { agent_id, reader, read_to: 0 }, { signal })
    return marker.read_to
  }

  move(readTo: number): void {
    this.#wanted = Math.max(this.#wanted, readTo)
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  /** Settles when it is known there. */
  async settled(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    const { agent_id, reader, signal, warn } = this.#options
    while (this.#marked < this.#wanted && !this.#isRefused) {
      const read_to = this.#wanted
      try {
        await this.#caller.call('chat.mark_read', { agent_id, reader, read_to }, { signal })
        this.#marked = read_to
      } catch (error) {
        // What the way to the gateway has come to is told by whoever reads.
        this.#isRefused = true
        if (error instanceof ToolError) warn(`it is not remembered how far you have read: ${error.message}`)
      }
    }
  }
}
