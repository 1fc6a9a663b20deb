import type { MountCall } from '@parley/agent'
import { type ApprovalId, type JsonObject, RpcError } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { SeededRandom } from '../random.ts'
import type { SteppedGateway } from './stepped-gateway.ts'
import type { SteppedHost } from './stepped-host.ts'
import type { Actor, Steps } from './steps.ts'

/** What a client heard of one call. `lost`: its connection was cut before. `cancelled`: it wanted no answer any more. */
export type Heard =
  | { readonly kind: 'result' | 'lost' | 'cancelled' }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }

/** One call of a client, from the moment that it reaches a host. */
export interface Attempt {
  readonly name: string
  readonly host: SteppedHost
  readonly call: MountCall<Caller>
  /** What let it through, where a person did, and with which arguments. */
  approval: ApprovalId | undefined
  isAllowed: boolean
  sent: JsonObject
  effects: number
  heard: Heard | undefined
}

export interface ClientPorts {
  readonly steps: Steps
  readonly random: SeededRandom
  readonly gateways: () => readonly SteppedGateway[]
  /** The host that holds the agent. */
  readonly holder: () => SteppedHost | undefined
  readonly began: (attempt: Attempt) => void
  /** The mount does what it was told. */
  readonly effect: (attempt: Attempt) => void
  readonly heard: (attempt: Attempt) => void
}

const TRIES = 12
const AGAIN_MS = 2_500
const MOUNT_FAILS_PART = 0.1
const CALLS_AGAIN_PART = 0.75

/** A client that calls one tool with some arguments, and again where its connection was cut. */
export class SteppedClient implements Actor {
  readonly name: string
  isDead = false
  stoppedUntil = 0
  readonly #ports: ClientPorts
  readonly #key: string
  readonly #arguments: JsonObject
  #way: Way | undefined

  constructor(name: string, key: string, args: JsonObject, ports: ClientPorts) {
    this.name = name
    this.#key = key
    this.#arguments = args
    this.#ports = ports
  }

  get way(): Way | undefined {
    return this.#way
  }

  async run(): Promise<void> {
    const { steps, random, gateways, holder } = this.#ports
    for (let tried = 0; tried < TRIES; tried += 1) {
      await steps.turn(this, `${this.name} wants to call`)
      const host = holder()
      const [gateway] = gateways()
      if (host === undefined || gateway === undefined) {
        await this.#sleep(AGAIN_MS)
        continue
      }
      const heard = await this.#call(host, random.pick(gateways()), tried)
      if (heard.kind !== 'lost' || random.next() > CALLS_AGAIN_PART) return
      await this.#sleep(random.between(0, AGAIN_MS))
    }
  }

  cancel(): void {
    this.#way?.cancel()
  }

  async #call(host: SteppedHost, gateway: SteppedGateway, tried: number): Promise<Heard> {
    const { steps } = this.#ports
    const call: MountCall<Caller> = {
      caller: { key: this.#key },
      kind: 'tool',
      mount: 'files',
      name: 'write',
      arguments: this.#arguments,
      annotations: undefined,
    }
    const name = `${this.name}.${tried}`
    const attempt: Attempt = {
      name,
      host,
      call,
      approval: undefined,
      isAllowed: false,
      sent: this.#arguments,
      effects: 0,
      heard: undefined,
    }
    const { promise, resolve } = Promise.withResolvers<Heard>()
    this.#way = new Way(steps, { attempt, gateway }, (heard) => {
      attempt.heard = heard
      this.#ports.heard(attempt)
      resolve(heard)
    })
    this.#ports.began(attempt)
    void this.#carry(this.#way, attempt)
    return promise
  }

  async #carry(way: Way, attempt: Attempt): Promise<void> {
    const { steps } = this.#ports
    const { host, name } = attempt
    await steps.turn(host, `${name} → ${host.name}`, way.up)
    const [served] = await Promise.allSettled([this.#serve(way, attempt)])
    const words = served.status === 'fulfilled' ? 'result' : String(served.reason)
    await steps.turn(this, `${name} ← ${host.name}: ${words}`)
    if (served.status === 'fulfilled') return way.hear({ kind: 'result' })
    const error: unknown = served.reason
    way.hear({ kind: 'error', code: error instanceof RpcError ? error.code : 0, message: String(error) })
  }

  /** What the compositor does with a call: the gate, then the mount, and its end is written down. */
  async #serve({ signal }: Way, attempt: Attempt): Promise<void> {
    const { host, name, call } = attempt
    const { steps, random, effect } = this.#ports
    const { held } = host
    if (held === undefined) throw new RpcError('internal_error', 'the agent is not here any more')
    const allowed = await held.calls.allow(call, { signal, cancellation: signal, held: () => undefined })
    attempt.sent = allowed.arguments ?? attempt.sent
    try {
      allowed.dispatched()
      const { promise: called, reject } = Promise.withResolvers<never>()
      called.catch(() => undefined)
      signal.addEventListener('abort', () => reject(new Error('whoever called is gone')), { once: true })
      const sent = steps.turn(host, `${host.name} → mount: ${name}`).then(() => {
        effect(attempt)
        return steps.turn(host, `${host.name} ← mount: ${name}`)
      })
      await Promise.race([sent, called])
      if (random.next() < MOUNT_FAILS_PART) throw new RpcError('internal_error', 'the mount failed')
      allowed.returned({})
    } catch (error) {
      allowed.failed(error)
      throw error
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#ports.steps.after(this, ms, `${this.name} waited`, resolve))
  }
}

/** The way of one call to a host, by the gateway that the client came to. */
export class Way {
  readonly attempt: Attempt
  readonly gateway: SteppedGateway
  readonly up: string
  readonly #steps: Steps
  readonly #controller = new AbortController()
  readonly #heard: (heard: Heard) => void
  #isOver = false

  constructor(
    steps: Steps,
    { attempt, gateway }: { readonly attempt: Attempt; readonly gateway: SteppedGateway },
    heard: (heard: Heard) => void,
  ) {
    this.#steps = steps
    this.attempt = attempt
    this.gateway = gateway
    this.up = `${attempt.name} up`
    this.#heard = heard
    gateway.links.add(this)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  hear(heard: Heard): void {
    if (this.#isOver) return
    this.#isOver = true
    this.gateway.links.delete(this)
    this.#heard(heard)
  }

  /** The connection is cut: both ends notice, each in its time. */
  cut(): void {
    this.#end('lost', 'was cut off')
  }

  cancel(): void {
    this.#end('cancelled', 'cancels')
  }

  #end(kind: 'lost' | 'cancelled', words: string): void {
    if (this.#isOver) return
    const { host, name } = this.attempt
    this.#steps.push(host, `${name} ${words}`, () => this.#controller.abort(new Error(`the caller ${words}`)), this.up)
    this.hear({ kind })
  }
}
