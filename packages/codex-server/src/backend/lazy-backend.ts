import type { Backend } from './backend.ts'

/** A backend that the first who needs it opens: no client waits for an engine before that. */
export class LazyBackend {
  readonly #open: () => Promise<Backend>
  #opening: Promise<Backend> | undefined
  #closing: Promise<void> | undefined

  constructor(open: () => Promise<Backend>) {
    this.#open = open
  }

  get(): Promise<Backend> {
    if (this.#closing !== undefined) return Promise.reject(new Error('the server is ending'))
    // A failure is not kept: what was missing may be there the next time.
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** Ends what was opened, also what is still being opened. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const backend = await this.#opening?.catch(() => undefined)
    await backend?.close()
  }
}
