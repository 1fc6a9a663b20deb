import { connect, type Socket } from 'node:net'
import type { Agent } from 'node:http'
import * as z from 'zod'
import { type OwnGateway, openOwnGateway } from '../own/open-gateway.ts'
import { HANG_MS, keepAlive, send } from './http-post.ts'
import { callTool, modernHeaders, MODERN_META } from './modern-call.ts'
import type { SeededRandom } from './random.ts'
import type { Tally } from '../soak.ts'

const CONNECTIONS = 16
const Made = z.object({ id: z.string(), token: z.string() })

/** A gateway under attack: eve attacks, ann works, an admin watches. */
export interface AttackWorld extends AsyncDisposable {
  readonly gateway: OwnGateway
  readonly agent: Agent
  readonly random: SeededRandom
  readonly tally: Tally
  /** A number of the full form, smaller in a short one. */
  readonly many: (count: number) => number
  readonly ann: string
  /** Another token of eve's. */
  evesToken(): Promise<z.infer<typeof Made>>
  admin(tool: string, args: object): Promise<Record<string, unknown>>
  /** Whether somebody's call is answered rightly now. */
  isServed(token: string): Promise<boolean>
}

export async function openAttackWorld(options: {
  readonly random: SeededRandom
  readonly tally: Tally
  readonly share: number
}): Promise<AttackWorld> {
  const gateway = await openOwnGateway({ exposeGc: true })
  const agent = keepAlive(CONNECTIONS)
  const admin = (tool: string, args: object) => callTool(agent, gateway.mcp, gateway.token, tool, args)
  const tokenOf = async (username: string) => Made.parse(await admin('token.create', { role: 'user', username, name: username }))
  for (const username of ['ann', 'eve']) await admin('user.add', { username })
  return {
    gateway,
    agent,
    random: options.random,
    tally: options.tally,
    many: (count) => Math.max(2, Math.ceil(count * options.share)),
    ann: (await tokenOf('ann')).token,
    evesToken: () => tokenOf('eve'),
    admin,
    isServed: (token) =>
      callTool(agent, gateway.mcp, token, 'account.get', {}).then(
        () => true,
        () => false,
      ),
    [Symbol.asyncDispose]: async () => {
      agent.destroy()
      await gateway[Symbol.asyncDispose]()
    },
  }
}

/** A call of a tool by whoever has the token: its status, and whether a result came. */
export async function tried(world: AttackWorld, token: string, name: string, args: object) {
  const answer = await send(
    world.agent,
    world.gateway.mcp,
    'POST',
    modernHeaders(token, 'tools/call', name),
    JSON.stringify(callOf(name, args)),
  ).catch(() => undefined)
  const text = answer?.text ?? ''
  return { status: answer?.status ?? 0, text, isDone: text.includes('"structuredContent"') && !text.includes('"isError":true') }
}

export const callOf = (name: string, args: object): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args, _meta: MODERN_META },
})

/** A request that is sent in two parts, whenever the caller likes. */
export class HalfRequest implements Disposable {
  readonly #socket: Socket
  #heard = ''
  #closed = false

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (piece: Buffer) => (this.#heard += piece.toString('latin1')))
    socket.on('error', () => (this.#closed = true))
    socket.on('close', () => (this.#closed = true))
  }

  static async open(
    world: AttackWorld,
    token: string,
    head: { readonly name: string; readonly bytes: number },
  ): Promise<HalfRequest> {
    const { hostname, port, host, pathname } = new URL(world.gateway.mcp)
    const socket = connect(Number(port), hostname)
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    const headers = { ...modernHeaders(token, 'tools/call', head.name), host, 'content-length': String(head.bytes) }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const half = new HalfRequest(socket)
    await half.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`)
    return half
  }

  /** Answers when the machine has taken it, or the other side is gone. */
  write(bytes: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closed) return resolve()
      this.#socket.once('close', () => resolve())
      this.#socket.write(bytes, () => resolve())
    })
  }

  /** The status of the answer; 0 for an end without one; `undefined` when nothing came in time. */
  async status(): Promise<number | undefined> {
    for (const until = Date.now() + HANG_MS; Date.now() < until; await new Promise((resolve) => setTimeout(resolve, 10))) {
      const told = /^HTTP\/1\.1 (\d+)/.exec(this.#heard)?.[1]
      if (told !== undefined) return Number(told)
      if (this.#closed) return 0
    }
    return undefined
  }

  get heard(): string {
    return this.#heard
  }
  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
