import { once } from 'node:events'
import { type Server, type Socket, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type Program, startProgram } from '../measure/program.ts'
import { GatewayProcess, LAUNCHER } from './gateway-process.ts'
import type { SeededRandom } from './random.ts'

/** An exec-server as a process of its own, which can be killed and started again on the same port. */
export class ExecServerProcess {
  readonly #options: readonly string[]
  #program: Program | undefined
  #port = 0

  constructor(options: readonly string[] = []) {
    this.#options = options
  }

  get port(): number {
    return this.#port
  }

  async start(): Promise<void> {
    const listen = ['--json', '--listen', `ws://127.0.0.1:${this.#port}`]
    const command = [process.execPath, LAUNCHER, 'exec-server', ...listen, ...this.#options]
    this.#program = await startProgram(command)
    this.#port = Number(new URL(String(this.#program.ready['url'])).port)
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#program?.kill(signal)
    await this.#program?.ended()
  }
}

/** A gateway and an executor that takes part in it: programs of their own, which can be killed and started again where they were. */
export class GatewayWithExecutor extends GatewayProcess {
  #executor: Program | undefined

  /** The options that lead `parley proxy` to this gateway. */
  get options(): readonly string[] {
    return ['--gateway', this.url, '--executor-token-file', join(this.folder, 'admin')]
  }

  override async open(): Promise<void> {
    await super.open()
    await this.makeToken('executor', ['--role', 'executor', '--name', 'soak'])
    await this.startExecutor()
  }

  async startExecutor(): Promise<void> {
    const options = ['--join', this.url, '--token-file', join(this.folder, 'executor'), '--json']
    this.#executor = await startProgram([process.execPath, LAUNCHER, 'exec-server', ...options])
  }

  async killExecutor(): Promise<void> {
    this.#executor?.kill('SIGKILL')
    await this.#executor?.ended()
  }

  override async close(): Promise<void> {
    await this.#executor?.stop()
    await super.close()
  }
}

/** What stands between client and server: it splits and delays what passes, can be cut, and can die and come back. */
export class Middle {
  readonly #random: SeededRandom
  readonly #target: () => number
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined
  #port = 0
  isSplitting = false
  isDelaying = false

  constructor(target: () => number, random: SeededRandom) {
    this.#target = target
    this.#random = random
  }

  get port(): number {
    return this.#port
  }

  async open(): Promise<void> {
    const server = createServer((socket) => this.#join(socket, connect(this.#target(), '127.0.0.1')))
    this.#server = server
    server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address === 'object' && address !== null) this.#port = address.port
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve))
    this.cut()
    await closed
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      void this.#pass(from, to)
    }
  }

  async #pass(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from) {
        if (!Buffer.isBuffer(chunk)) continue
        for (const part of this.#parts(chunk)) {
          if (this.isDelaying && this.#random.next() < 0.05)
            await new Promise((resolve) => setTimeout(resolve, this.#random.between(1, 15)))
          if (!to.destroyed && !to.write(part)) await Promise.race([once(to, 'drain'), once(to, 'close')])
        }
      }
    } catch {
      // It was cut; its other half is ended by the event.
    }
  }

  #parts(chunk: Buffer): readonly Buffer[] {
    if (!this.isSplitting || chunk.length < 2) return [chunk]
    const at = this.#random.between(1, chunk.length - 1)
    return [chunk.subarray(0, at), chunk.subarray(at)]
  }
}
