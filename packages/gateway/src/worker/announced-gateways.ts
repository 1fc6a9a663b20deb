import { type GatewayAddress, WORKER_LIMITS, type RandomBytes } from '@parley/protocol'
import type { Gateways } from '@parley/store'
import type { Logger } from 'pino'

const ID_BYTES = 16
const AGAIN_MS = 10_000

/** This gateway in the list of all that serve the store, so that workers find each of them. */
export class AnnouncedGateways {
  readonly id: string
  readonly #gateways: Gateways
  readonly #log: Logger
  readonly #now: () => number
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(options: {
    readonly gateways: Gateways
    readonly log: Logger
    readonly now: () => number
    readonly random: RandomBytes
  }) {
    this.#gateways = options.gateways
    this.#log = options.log
    this.#now = options.now
    this.id = Buffer.from(options.random(ID_BYTES)).toString('hex')
  }

  /** Says where workers reach it, from now on. */
  async announce(url: string): Promise<void> {
    const say = (): Promise<void> => this.#gateways.announce({ id: this.id, url })
    await say()
    const again = (): Promise<void> =>
      say().catch((error: unknown) => this.#log.warn({ err: error }, 'this gateway cannot be announced now; trying again'))
    this.#timer = setInterval(() => {
      this.#writing = this.#writing.then(again)
    }, AGAIN_MS).unref()
  }

  /** Those that run, as far as is known. */
  async list(): Promise<GatewayAddress[]> {
    const running = await this.#gateways.list(this.#now() - WORKER_LIMITS.silentMs)
    return running.map(({ id, url }) => ({ id, url }))
  }

  async close(): Promise<void> {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    await this.#writing
    // Found out by its silence, if the database is away.
    await this.#gateways.remove(this.id).catch(() => undefined)
  }
}
