import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { RPC_CODES, type RpcCodeName } from '@parley/protocol/wire'
import { loneWire, type ServedWire } from '../core/served-wire.ts'
import type { Limits } from '../limits.ts'
import { errorText } from '../message/text.ts'
import type { Caller, Service } from '../service.ts'
import { serveLines } from './server.ts'

/** How long a client may be let in for. */
export interface Admission {
  /** Fires when what it showed is good for nothing any more: its connections end. */
  readonly signal: AbortSignal
}

/** Every bound of such a socket beside those of the wire, by name. */
export interface TokenServerLimits {
  /** What the first line may have, and how long it may take. */
  readonly tokenBytes: number
  readonly tokenMs: number
  /** Connections that have not shown a token yet. For one more the oldest of them is ended. */
  readonly waiting: number
  /** Connections with one token. */
  readonly perToken: number
  /** How long, and with how many bytes more, somebody who was refused may go on before it is cut. */
  readonly leavingMs: number
  readonly leavingBytes: number
}

export interface TokenServerOptions<C extends Caller> {
  /** Whoever reaches this file may dial: the folder says who that is. */
  readonly socketPath: string
  readonly service: Service<C>
  /** Who everybody is that is let in. */
  readonly caller: C
  /** What the first line of a connection is good for; undefined: nothing. */
  readonly admit: (token: string) => Admission | undefined
  readonly limits?: Partial<Limits>
  readonly tokenLimits?: Partial<TokenServerLimits>
}

/** A server on a socket file. */
export interface TokenServer {
  /** Connections at this moment, and how many of them have shown no token yet. */
  holds(): { readonly connections: number; readonly waiting: number }
  /** Ends every connection. */
  close(): Promise<void>
}

const TOKEN_SERVER_LIMITS: TokenServerLimits = {
  tokenBytes: 256,
  tokenMs: 10_000,
  waiting: 32,
  perToken: 16,
  leavingMs: 2_000,
  leavingBytes: 64 * 1024,
}
const NEWLINE = 0x0a
/** How many connections may wait to be taken in. */
const BACKLOG = 64

/**
 * MCP as on stdio, for every client of a socket file that shows a token first: a line with nothing else. Whoever shows none is told so in
 * one line and is closed.
 */
export async function openTokenServer<C extends Caller>(options: TokenServerOptions<C>): Promise<TokenServer> {
  const clients = new TokenClients(options)
  const server = createServer((socket) => clients.take(socket))
  server.listen({ path: options.socketPath, backlog: BACKLOG, writableAll: true })
  await once(server, 'listening')
  return { holds: () => clients.holds(), close: () => close(server, clients, options.socketPath) }
}

async function close(server: Server, clients: { end(): void }, socketPath: string): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  clients.end()
  await closed
  rmSync(socketPath, { force: true })
}

class TokenClients<C extends Caller> {
  readonly #options: TokenServerOptions<C>
  readonly #limits: TokenServerLimits
  readonly #served: ServedWire<C>
  readonly #open = new Set<Socket>()
  /** Those without a token, the oldest first, each with what ends it. */
  readonly #waiting = new Map<Socket, (words: string) => void>()
  readonly #admitted = new Map<AbortSignal, number>()
  /** Those who were refused and are not gone yet. */
  readonly #leaving = new Set<Socket>()

  constructor(options: TokenServerOptions<C>) {
    this.#options = options
    this.#limits = { ...TOKEN_SERVER_LIMITS, ...options.tokenLimits }
    const { service, caller, limits } = options
    this.#served = loneWire({ wire: 'stdio', service, caller, limits })
  }

  holds(): ReturnType<TokenServer['holds']> {
    return { connections: this.#open.size, waiting: this.#waiting.size }
  }

  end(): void {
    for (const socket of this.#open) socket.destroy()
  }

  take(socket: Socket): void {
    this.#open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => this.#open.delete(socket))
    const [oldest] = this.#waiting.values()
    if (this.#waiting.size >= this.#limits.waiting) oldest?.('too many connections wait to show a token')
    const { tokenBytes, tokenMs } = this.#limits
    let shown = Buffer.alloc(0)
    const over = (): void => {
      clearTimeout(timer)
      this.#waiting.delete(socket)
      socket.off('data', more)
      socket.off('close', over)
    }
    const refuse = (words: string): void => {
      over()
      this.#refuse(socket, 'invalid_request', words)
    }
    const more = (chunk: Buffer): void => {
      shown = Buffer.concat([shown, chunk.subarray(0, tokenBytes + 1)])
      const end = shown.indexOf(NEWLINE)
      if (end === -1 && shown.length > tokenBytes) return refuse(`the first line is a token, of ${tokenBytes} bytes at most`)
      if (end === -1) return
      const rest = chunk.subarray(chunk.indexOf(NEWLINE) + 1)
      over()
      socket.pause()
      this.#admit(socket, shown.toString('utf8', 0, end), rest)
    }
    const timer = setTimeout(() => refuse(`no token came within ${tokenMs / 1_000} s`), tokenMs)
    this.#waiting.set(socket, refuse)
    socket.on('close', over)
    socket.on('data', more)
  }

  #admit(socket: Socket, token: string, rest: Buffer): void {
    const { admit, caller } = this.#options
    const admission = admit(token)
    if (admission === undefined || admission.signal.aborted)
      return this.#refuse(socket, 'invalid_request', 'the first line is not a token that is good here')
    const { signal } = admission
    const before = this.#admitted.get(signal) ?? 0
    if (before >= this.#limits.perToken) return this.#refuse(socket, 'overloaded', 'too many connections with this token')
    this.#admitted.set(signal, before + 1)
    const cut = (): void => void socket.destroy()
    signal.addEventListener('abort', cut, { once: true })
    socket.on('close', () => {
      signal.removeEventListener('abort', cut)
      const left = (this.#admitted.get(signal) ?? 1) - 1
      if (left === 0) this.#admitted.delete(signal)
      else this.#admitted.set(signal, left)
    })
    if (rest.length > 0) socket.unshift(rest)
    void serveLines({ input: socket, output: socket, served: this.#served, caller })
    socket.resume()
  }

  /**
   * One line that says why, and no more. What else was sent is thrown away: who is cut while something of it is on its way would not read
   * the line. It has little time for that, and as many as may wait for a token have any.
   */
  #refuse(socket: Socket, code: RpcCodeName, words: string): void {
    const { leavingMs, leavingBytes, waiting } = this.#limits
    const [oldest] = this.#leaving
    if (this.#leaving.size >= waiting) oldest?.destroy()
    this.#leaving.add(socket)
    let left = leavingBytes
    const timer = setTimeout(() => socket.destroy(), leavingMs)
    socket.on('close', () => {
      clearTimeout(timer)
      this.#leaving.delete(socket)
    })
    socket.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) socket.destroy()
    })
    socket.end(`${errorText(null, RPC_CODES[code], words)}\n`)
    socket.resume()
  }
}
