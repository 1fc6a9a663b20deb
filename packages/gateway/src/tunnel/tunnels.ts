import { NOTIFICATIONS, TUNNEL_PATH, TUNNEL_TICKET_HEADER, WorkerName, unlessAborted } from '@parley/protocol'
import { Denied, type Knock, type Link, type TunnelEnd, type TunnelRoute, joinEnds } from '@parley/rpc'
import { isWorkerHere } from '@parley/store'
import { lineOf } from '../audit/line.ts'
import { hashText } from '../auth/token-text.ts'
import type { GatewayCaller } from '../caller.ts'
import type { WorkerWorld } from '../worker/worker-world.ts'

/** How long a worker may take to dial back. */
const OPEN_MS = 10_000
/** Tunnels that wait for their worker: in all, and for one person. */
const WAITING_MAX = 256
const WAITING_PER_PERSON = 16
const RETRY_SECONDS = 1
const ID_BYTES = 12
const TICKET_BYTES = 32

/** A tunnel that was asked for and whose worker has not come yet. */
interface Waiting {
  readonly person: string
  /** The token of the worker: nobody else may come in its place. */
  readonly workerKey: string
  readonly came: PromiseWithResolvers<TunnelEnd>
}

type GatewayKnock = Knock<GatewayCaller>

/**
 * Brings together who asks for something in a worker and that worker, which nobody can dial: it is told on its own connection, and
 * dials back with a ticket that is good once. What passes then is not read.
 */
export class Tunnels implements TunnelRoute<GatewayCaller> {
  readonly path = TUNNEL_PATH
  readonly #world: WorkerWorld
  readonly #openMs: number
  readonly #waiting = new Map<string, Waiting>()

  constructor(world: WorkerWorld, openMs = OPEN_MS) {
    this.#world = world
    this.#openMs = openMs
  }

  meet(knock: GatewayKnock): Promise<(end: TunnelEnd) => void> {
    const ticket = knock.headers[TUNNEL_TICKET_HEADER]
    return ticket === undefined ? this.#ask(knock) : this.#bring(String(ticket), knock)
  }

  async #bring(ticket: string, { caller }: GatewayKnock): Promise<(end: TunnelEnd) => void> {
    const hash = hashText(ticket)
    const waiting = this.#waiting.get(hash)
    if (waiting === undefined || waiting.workerKey !== caller.key)
      throw new Denied(404, 'not_found', 'no tunnel waits for this ticket: it is good once, for its worker, and for ten seconds')
    this.#waiting.delete(hash)
    return waiting.came.resolve
  }

  async #ask(knock: GatewayKnock): Promise<(end: TunnelEnd) => void> {
    const { caller } = knock
    if (caller.role !== 'user' || !caller.admin) {
      this.#note(caller, 'denied', 'forbidden')
      throw new Denied(403, 'forbidden', 'only an admin may reach an executor')
    }
    const name = WorkerName.safeParse(knock.query.get('executor'))
    if (!name.success) throw new Denied(400, 'invalid_argument', 'executor must be the name of an executor')
    try {
      const link = await this.#linkTo(name.data)
      // Before anything happens on the other machine: what cannot be written down is not done.
      await this.#world.audit.record(this.#line(caller, 'ok', undefined, name.data))
      return await this.#opened(name.data, link, knock)
    } catch (error) {
      this.#note(caller, 'failed', error instanceof Denied ? error.code : 'unavailable', name.data)
      throw error
    }
  }

  async #linkTo(name: string): Promise<Link<GatewayCaller>> {
    const link = this.#world.workers.linkTo('executor', name)
    if (link !== undefined) return link
    const record = await this.#world.store.workers.byName('executor', name)
    if (record !== undefined && isWorkerHere(record, this.#world.now()))
      throw new Denied(503, 'unavailable', `${name} has no connection to this gateway now; try again`, RETRY_SECONDS)
    const words = record === undefined ? `there is no executor called ${name}` : `${name} is not here now`
    throw new Denied(404, 'not_found', `${words}; parley executor list shows those that are`)
  }

  async #opened(name: string, link: Link<GatewayCaller>, knock: GatewayKnock): Promise<(end: TunnelEnd) => void> {
    const { random, log } = this.#world
    const { person } = knock.caller
    const ofPerson = [...this.#waiting.values()].filter((waiting) => waiting.person === person).length
    if (this.#waiting.size >= WAITING_MAX || ofPerson >= WAITING_PER_PERSON)
      throw new Denied(429, 'overloaded', 'too many tunnels wait for their workers; try again', RETRY_SECONDS)
    const ticket = Buffer.from(random(TICKET_BYTES)).toString('base64url')
    const tunnel = Buffer.from(random(ID_BYTES)).toString('hex')
    const came = Promise.withResolvers<TunnelEnd>()
    const hash = hashText(ticket)
    this.#waiting.set(hash, { person, workerKey: link.caller.key, came })
    try {
      const worker = await this.#inTime(name, { gone: knock.signal, left: link.signal }, async () => {
        const params = { tunnel, kind: 'executor', subject: name, ticket } as const
        while (!link.signal.aborted && !link.notify(NOTIFICATIONS.open.method, params)) await link.drained()
        return came.promise
      })
      knock.signal.addEventListener('abort', () => worker.close('whoever asked went away'), { once: true })
      return (asker) => {
        log.info({ tunnel, executor: name, key: knock.caller.key }, 'tunnel opened')
        void joinEnds(asker, worker).then(({ bytes, reason }) =>
          log.info({ tunnel, executor: name, bytes, reason }, 'tunnel closed'),
        )
      }
    } catch (error) {
      // It may be on its way all the same.
      void came.promise.then((late) => late.close('nobody waits for it any more'))
      throw error
    } finally {
      this.#waiting.delete(hash)
    }
  }

  /** What it comes to before its time is over, whoever asked is gone, or the worker is. */
  async #inTime<Value>(
    name: string,
    { gone, left }: { readonly gone: AbortSignal; readonly left: AbortSignal },
    work: () => Promise<Value>,
  ): Promise<Value> {
    const late = AbortSignal.timeout(this.#openMs)
    const over = AbortSignal.any([late, gone, left])
    return unlessAborted(work(), over, () => {
      if (gone.aborted) return new Denied(503, 'unavailable', 'whoever asked went away')
      if (left.aborted) return new Denied(503, 'unavailable', `${name} has just left; try again`, RETRY_SECONDS)
      return new Denied(504, 'unavailable', `${name} did not answer within ${this.#openMs / 1_000} s`)
    })
  }

  #note(caller: GatewayCaller, outcome: 'denied' | 'failed', code: string, target?: string): void {
    this.#world.audit.note(this.#line(caller, outcome, code, target))
  }

  #line(caller: GatewayCaller, outcome: 'ok' | 'denied' | 'failed', code?: string, target?: string) {
    const { now } = this.#world
    return lineOf(caller, 'tunnel.open', { at: now(), outcome, ...(code && { code }), ...(target && { target }) })
  }
}
