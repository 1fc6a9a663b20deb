import { type GatewayCaller, localCaller } from '@parley/access'
import { type JsonObject, Meter, type ToolInput, type ToolName, type ToolOutput, makeId, TokenId } from '@parley/protocol'
import { type Call, LATEST_LEGACY, type Link, WireError } from '@parley/rpc'
import type { SteppedGateway } from './stepped-gateway.ts'
import type { Actor, Steps } from './steps.ts'

const CLIENT = { info: undefined, capabilities: {} }
const RATE = { perSecond: 1e9, burst: 1e9 }

/** A host by the token that it came with. */
export function hostCaller(name: string): GatewayCaller {
  const tokenId = makeId(TokenId, 'tok', (size) => new Uint8Array(size))
  return { ...localCaller(new Meter(RATE, () => 0)), key: name, person: name, role: 'host', admin: false, name, tokenId }
}

/** One connection of a host to a gateway. What is said on it arrives in order, or not at all once it was cut. */
export class HostLink {
  readonly gateway: SteppedGateway
  readonly #steps: Steps
  readonly #host: Actor
  readonly #caller: GatewayCaller
  readonly #notified: (params: JsonObject) => void
  readonly #lost: () => void
  readonly #ended = new AbortController()
  readonly #open = new Set<(error: WireError) => void>()
  readonly #link: Link<GatewayCaller>
  readonly #name: string
  /** The gateway knows on it who speaks. */
  isGreeted = false

  constructor(options: {
    readonly steps: Steps
    readonly host: Actor
    readonly caller: GatewayCaller
    readonly gateway: SteppedGateway
    readonly notified: (params: JsonObject) => void
    readonly lost: () => void
  }) {
    const { steps, host, caller, gateway, notified, lost } = options
    this.gateway = gateway
    this.#steps = steps
    this.#host = host
    this.#caller = caller
    this.#notified = notified
    this.#lost = lost
    this.#name = `${host.name}-${gateway.name}`
    this.#link = linkOf(this.#name, caller, this.#ended.signal, (params) => this.#notify(params))
    gateway.links.add(this)
  }

  get isCut(): boolean {
    return this.#ended.signal.aborted
  }

  cut(): void {
    if (this.isCut) return
    this.gateway.links.delete(this)
    this.#ended.abort()
    for (const fail of this.#open) fail(new WireError('closed', 'the connection was cut'))
    this.#lost()
  }

  once<Name extends ToolName>(name: Name, input: ToolInput<Name>, signal: AbortSignal): Promise<ToolOutput<Name>> {
    if (this.isCut) return Promise.reject(new WireError('closed', 'the connection was cut'))
    const { promise, resolve, reject } = Promise.withResolvers<ToolOutput<Name>>()
    const heard = new AbortController()
    const called = (): void => {
      reject(new WireError('aborted', 'nobody waits for it any more'))
      this.#steps.push(this.gateway, `${this.#name} ${name}: called off`, () => heard.abort(), `${this.#name} up`)
    }
    this.#open.add(reject)
    signal.addEventListener('abort', called, { once: true })
    if (signal.aborted) called()
    void this.#carry(name, input, heard).then(resolve, reject)
    return promise.finally(() => {
      this.#open.delete(reject)
      signal.removeEventListener('abort', called)
    })
  }

  async #carry<Name extends ToolName>(name: Name, input: ToolInput<Name>, heard: AbortController): Promise<ToolOutput<Name>> {
    const { desk } = this.gateway
    await this.#steps.turn(this.gateway, `${this.#name} → ${name}${shownInput(input)}`, `${this.#name} up`)
    if (this.isCut) return never()
    this.#ended.signal.addEventListener('abort', () => heard.abort(), { once: true })
    // Waits end by the clock of the run: the real one stands still in comparison.
    const waitMs = 'wait_ms' in input && typeof input.wait_ms === 'number' ? input.wait_ms : 0
    const off =
      waitMs === 0
        ? () => {}
        : this.#steps.after(
            this.gateway,
            waitMs,
            `${this.#name} ${name}: waited`,
            () => heard.abort(),
            () => true,
          )
    const from = { caller: this.#caller, call: callOf(this.#caller, this.#link, heard.signal) }
    const [answered] = await Promise.allSettled([desk.call(name, input, from)])
    off()
    const words = answered.status === 'fulfilled' ? 'answer' : String(answered.reason)
    await this.#steps.turn(this.#host, `${this.#name} ← ${name}: ${words}`, `${this.#name} down`)
    if (this.isCut) return never()
    if (answered.status === 'rejected') throw answered.reason
    return answered.value
  }

  #notify(params: JsonObject): boolean {
    if (this.isCut) return false
    const told = (): void => {
      if (!this.isCut) this.#notified(params)
    }
    this.#steps.push(this.#host, `${this.#name} ← told ${JSON.stringify(params['action'])}`, told, `${this.#name} down`)
    return true
  }
}

/** What a dead or cut one would have said. */
const never = (): Promise<never> => new Promise(() => {})

const shownInput = (input: object): string =>
  'step' in input ? ` ${String(input.step)}` : 'approval_ids' in input ? ` (waits)` : ''

function linkOf(
  id: string,
  caller: GatewayCaller,
  signal: AbortSignal,
  notified: (params: JsonObject) => boolean,
): Link<GatewayCaller> {
  return {
    id,
    caller,
    client: CLIENT,
    revision: LATEST_LEGACY,
    signal,
    notify: (_method, params) => ('text' in params ? true : notified(params)),
    drained: () => Promise.resolve(),
    unattendedMs: () => undefined,
    ask: never,
    close: () => {},
  }
}

function callOf(caller: GatewayCaller, link: Link<GatewayCaller>, signal: AbortSignal): Call<GatewayCaller> {
  return {
    id: 1,
    era: 'legacy',
    revision: LATEST_LEGACY,
    caller,
    client: CLIENT,
    link,
    meta: {},
    signal,
    cancellation: signal,
    answers: undefined,
    state: undefined,
    notify: () => true,
    drained: () => Promise.resolve(),
    held: () => {},
    goesOn: () => {},
    progress: () => {},
    log: () => {},
    ask: never,
    dropStream: () => {},
  }
}
