import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError, type ToolInput, type ToolName, type ToolOutput } from '@parley/protocol'
import { type Client, WireError } from '@parley/rpc'

const RETRY_MIN_MS = 200
const RETRY_MAX_MS = 5_000
/** A gateway that is away for longer than this will not come back while we wait. */
const AWAY_MAX_MS = 10 * 60_000

/** What a restart of the gateway can cause. */
const PASSING: ReadonlySet<string> = new Set(['closed', 'timeout', 'stream_lost', 'session_lost', 'http_status', 'unreachable'])

interface Ports {
  readonly err: (text: string) => void
  readonly random: () => number
}

/** Calls tools, and goes on after the connection was lost. The first connection must succeed at once. */
export class SteadyCaller {
  readonly #connect: () => Promise<Client>
  readonly #ports: Ports
  /** Where word about the connection goes. */
  say: (text: string) => void
  #client: Client | undefined
  #opening: Promise<Client> | undefined

  private constructor(connect: () => Promise<Client>, ports: Ports, client: Client) {
    this.#connect = connect
    this.#ports = ports
    this.say = ports.err
    this.#client = client
  }

  static async open(connect: () => Promise<Client>, ports: Ports): Promise<SteadyCaller> {
    return new SteadyCaller(connect, ports, await connect())
  }

  /** Once. For what must not happen twice. */
  async once<Name extends ToolName>(name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>> {
    return (await this.#open()).callTool(name, input)
  }

  /** Again after every failure of the wire. For what may be asked twice. */
  async call<Name extends ToolName>(name: Name, input: ToolInput<Name>, signal?: AbortSignal): Promise<ToolOutput<Name>> {
    for (;;) {
      signal?.throwIfAborted()
      const client = await this.#open()
      try {
        return await client.callTool(name, input, { signal })
      } catch (error) {
        if (signal?.aborted === true || !isPassing(error)) throw error
        if (this.#client === client) this.#client = undefined
        client.close().catch(() => {})
        await sleep(RETRY_MIN_MS)
      }
    }
  }

  async close(): Promise<void> {
    await this.#client?.close()
  }

  #open(): Promise<Client> {
    if (this.#client !== undefined && !this.#client.isClosed) return Promise.resolve(this.#client)
    this.#opening ??= this.#reconnect().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #reconnect(): Promise<Client> {
    this.say('the connection was lost; trying again\n')
    let awayMs = 0
    for (let tries = 0; ; tries += 1) {
      try {
        this.#client = await this.#connect()
        return this.#client
      } catch (error) {
        if (!isPassing(error) || awayMs > AWAY_MAX_MS) throw error
      }
      const waitMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** tries) * (0.5 + this.#ports.random() / 2)
      awayMs += waitMs
      await sleep(waitMs)
    }
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof ToolError) return error.code === 'unavailable'
  return error instanceof WireError && PASSING.has(error.code)
}
