import { type ToolInput, type ToolName, type ToolOutput, ToolError } from '@parley/protocol'
import { type Client, connectClient, httpTransport } from '@parley/rpc'
import type { AgentsWorld } from '../agents/agents-world.ts'
import type { SeededRandom } from '../random.ts'

const CONNECT_MS = 20_000
const CALL_MS = 20_000

/** Somebody who may decide about everything, at any of the gateways. */
export class AdminDesk {
  /** What approvals call them. */
  readonly name: string
  readonly token: string
  readonly #world: AgentsWorld
  readonly #clients = new Map<number, Promise<Client>>()

  private constructor(world: AgentsWorld, { token, id }: { readonly token: string; readonly id: string }) {
    this.#world = world
    this.token = token
    this.name = `admin (token ${id})`
  }

  static async open(world: AgentsWorld): Promise<AdminDesk> {
    return new AdminDesk(world, await world.makeAdmin())
  }

  /** One try at one gateway. Throws `ToolError` where it was answered so, anything else where it is not known. */
  async call<Name extends ToolName>(gateway: number, name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>> {
    const connecting = this.#clients.get(gateway) ?? this.#connect(gateway)
    this.#clients.set(gateway, connecting)
    try {
      return await (await connecting).callTool(name, input, { timeoutMs: CALL_MS })
    } catch (error) {
      if (!(error instanceof ToolError) && this.#clients.get(gateway) === connecting) {
        this.#clients.delete(gateway)
        void closed(connecting)
      }
      throw error
    }
  }

  /** The same at any of them. */
  callAny<Name extends ToolName>(random: SeededRandom, name: Name, input: ToolInput<Name>): Promise<ToolOutput<Name>> {
    return this.call(random.between(0, this.#world.gateways - 1), name, input)
  }

  /** Lets go of every connection, whatever is under way on it. */
  async cut(): Promise<void> {
    const connections = [...this.#clients.values()]
    this.#clients.clear()
    await Promise.all(connections.map(closed))
  }

  close(): Promise<void> {
    return this.cut()
  }

  #connect(gateway: number): Promise<Client> {
    return connectClient(httpTransport({ url: this.#world.mcp(gateway), token: this.token }), {
      clientInfo: { name: 'soak', version: '1' },
      era: 'modern',
      signal: AbortSignal.timeout(CONNECT_MS),
    })
  }
}

async function closed(connecting: Promise<Client>): Promise<void> {
  await connecting.then((client) => client.close()).catch(() => undefined)
}
