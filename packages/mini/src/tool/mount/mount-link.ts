import { type JsonObject, unlessAborted, within } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import type { ConnectMount, MountSpec } from '@parley/agent'
import { TOOL_BOUNDS } from '../bounds.ts'
import { MountFailed } from './mount-failed.ts'

export interface MountLinkParts {
  readonly spec: MountSpec
  readonly connect: ConnectMount
  readonly connectMs: number
}

/** The connection to one mounted server. One that died is opened again by the next call, a few times. */
export class MountLink {
  readonly spec: MountSpec
  readonly #connect: ConnectMount
  readonly #connectMs: number
  readonly #closing = new AbortController()
  #current: Promise<Client> | undefined
  #attempts = 0

  constructor({ spec, connect, connectMs }: MountLinkParts) {
    this.spec = spec
    this.#connect = connect
    this.#connectMs = connectMs
  }

  /** Connects and lists all tools of the server, both within the time to connect. */
  async listTools(): Promise<readonly JsonObject[]> {
    const deadline = this.#deadline()
    const client = await this.client()
    return unlessAborted(client.listTools({ signal: deadline, timeoutMs: this.#connectMs }), deadline)
  }

  /** The server as it is now. Calls that come together share one attempt to connect. */
  client(): Promise<Client> {
    if (this.#current !== undefined) return this.#current
    const attempt = this.#open()
    this.#current = attempt
    const forget = (): void => {
      if (this.#current === attempt) this.#current = undefined
    }
    attempt.then((client) => client.closed.then(forget), forget)
    return attempt
  }

  async close(): Promise<void> {
    this.#closing.abort(new MountFailed(this.spec.name, 'was closed'))
    const client = await this.#current?.catch(() => undefined)
    if (client === undefined) return
    // A server that does not close in time is not waited for any longer.
    await within(client.close(), TOOL_BOUNDS.mountCloseMs).catch(() => {})
  }

  async #open(): Promise<Client> {
    this.#closing.signal.throwIfAborted()
    if (++this.#attempts > 1 + TOOL_BOUNDS.mountReconnects) throw new MountFailed(this.spec.name, 'died too often')
    const deadline = this.#deadline()
    const opening = this.#connect(this.spec, deadline)
    try {
      return await unlessAborted(opening, deadline)
    } catch (error) {
      // One that comes after all is wanted by nobody.
      opening.then((client) => client.close()).catch(() => {})
      if (!isTimeout(deadline)) throw error
      throw new MountFailed(this.spec.name, `did not answer within ${this.#connectMs} ms`, { cause: error })
    }
  }

  #deadline(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#connectMs)])
  }
}

function isTimeout({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof DOMException && reason.name === 'TimeoutError'
}
