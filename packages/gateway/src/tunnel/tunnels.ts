import { type GatewayCaller, hasAdmin, hashText, lineOf, outOfScope } from '@parley/access'
import {
  AgentClaim,
  NOTIFICATIONS,
  TUNNEL_PATH,
  TUNNEL_TICKET_HEADER,
  type TunnelKind,
  WorkerName,
  unlessAborted,
} from '@parley/protocol'
import { Denied, type Knock, type Link, type TunnelEnd, type TunnelRoute, joinEnds } from '@parley/rpc'
import { type WorkerKind, isWorkerHere } from '@parley/store'
import type { WorkerWorld } from '../worker/worker-world.ts'

/** How long a worker may take to dial back. */
const OPEN_MS = 10_000
/** Tunnels that wait for their worker: in all, and for one person. */
const WAITING_MAX = 256
const WAITING_PER_PERSON = 16
const RETRY_SECONDS = 1
const ID_BYTES = 12
const TICKET_BYTES = 32

/** What somebody wants to reach, and how long they wait for it. */
export interface TunnelWish {
  readonly kind: TunnelKind
  /** The name of the worker that has it. */
  readonly worker: string
  readonly subject: string
  readonly person: string
  /** Nobody waits for it any more. Once it is open this says nothing. */
  readonly gone: AbortSignal
}

const WORKER_KINDS = { executor: 'executor', agent: 'host' } as const satisfies Record<TunnelKind, WorkerKind>

/** A tunnel that was asked for and whose worker has not come yet. */
interface Waiting {
  readonly person: string
  /** The token of the worker: nobody else may come in its place. */
  readonly workerKey: string
  readonly came: PromiseWithResolvers<TunnelEnd>
}

type GatewayKnock = Knock<GatewayCaller>

/** Why a host may not reach an executor for the agent that it claims to hold; `undefined`: it may. */
export type ExecutorRefusal = (
  claim: AgentClaim,
  caller: Pick<GatewayCaller, 'tokenId'>,
  executor: string,
) => Promise<string | undefined>

/** On whose behalf somebody asks: how many they may wait for is bounded by `person`, and `target` is what is written down. */
interface Asker {
  readonly person: string
  readonly target: string
}

/**
 * Brings together who asks for something in a worker and that worker, which nobody can dial: it is told on its own connection, and
 * dials back with a ticket that is good once. What passes then is not read.
 */
export class Tunnels implements TunnelRoute<GatewayCaller> {
  readonly path = TUNNEL_PATH
  readonly #world: WorkerWorld
  readonly #refusal: ExecutorRefusal
  readonly #openMs: number
  readonly #waiting = new Map<string, Waiting>()

  constructor(world: WorkerWorld, refusal: ExecutorRefusal, openMs = OPEN_MS) {
    this.#world = world
    this.#refusal = refusal
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
    if (caller.role !== 'host' && (caller.role !== 'user' || !caller.admin))
      throw this.#denied(caller, 'only an admin may reach an executor')
    if (caller.role === 'user' && !hasAdmin(caller)) throw this.#denied(caller, outOfScope('an executor', ['admin'], caller))
    const name = WorkerName.safeParse(knock.query.get('executor'))
    if (!name.success) throw new Denied(400, 'invalid_argument', 'executor must be the name of an executor')
    const { person, target } = await this.#askerOf(knock, name.data)
    try {
      const wish = { kind: 'executor', worker: name.data, subject: name.data, person, gone: knock.signal } as const
      const link = await this.#linkTo(wish)
      // Before anything happens on the other machine: what cannot be written down is not done.
      await this.#world.audit.record(this.#line(caller, 'ok', undefined, target))
      const { end: worker, tunnel } = await this.#opened(wish, link)
      const { log } = this.#world
      knock.signal.addEventListener('abort', () => worker.close('whoever asked went away'), { once: true })
      return (asker) => {
        log.info({ tunnel, executor: name.data, key: caller.key }, 'tunnel opened')
        void joinEnds(asker, worker).then(({ bytes, reason }) =>
          log.info({ tunnel, executor: name.data, bytes, reason }, 'tunnel closed'),
        )
      }
    } catch (error) {
      this.#note(caller, 'failed', error instanceof Denied ? error.code : 'unavailable', target)
      throw error
    }
  }

  /** An admin asks for themselves. A host asks for an agent, while it holds it and its owner was granted the executor. */
  async #askerOf({ caller, query }: GatewayKnock, executor: string): Promise<Asker> {
    if (caller.role !== 'host') return { person: caller.person, target: executor }
    const claim = AgentClaim.safeParse({ agent_id: query.get('agent_id'), claim_id: query.get('claim_id') })
    if (!claim.success) throw new Denied(400, 'invalid_argument', 'agent_id and claim_id must be a claim of this host')
    const id = claim.data.agent_id
    const asker = { person: `agent ${id}`, target: `${executor} for ${id}` }
    const refused = await this.#refusal(claim.data, caller, executor)
    if (refused !== undefined) throw this.#denied(caller, refused, asker.target)
    return asker
  }

  #denied(caller: GatewayCaller, why: string, target?: string): Denied {
    this.#note(caller, 'denied', 'forbidden', target)
    return new Denied(403, 'forbidden', why)
  }

  /** Has a worker dial back, for this gateway itself. Throws `Denied` where it is not there or does not come. */
  async open(wish: TunnelWish): Promise<TunnelEnd> {
    const { end } = await this.#opened(wish, await this.#linkTo(wish))
    return end
  }

  async #linkTo({ kind: tunnelKind, worker: name }: TunnelWish): Promise<Link<GatewayCaller>> {
    const kind = WORKER_KINDS[tunnelKind]
    const link = this.#world.workers.linkTo(kind, name)
    if (link !== undefined) return link
    const record = await this.#world.store.workers.byName(kind, name)
    if (record !== undefined && isWorkerHere(record, this.#world.now()))
      throw new Denied(503, 'unavailable', `${name} has no connection to this gateway now; try again`, RETRY_SECONDS)
    const words = record === undefined ? `there is no ${kind} called ${name}` : `${name} is not here now`
    throw new Denied(404, 'not_found', `${words}; parley ${kind} list shows those that are`)
  }

  async #opened(
    { kind, worker: name, subject, person, gone }: TunnelWish,
    link: Link<GatewayCaller>,
  ): Promise<{ readonly end: TunnelEnd; readonly tunnel: string }> {
    const { random } = this.#world
    const ofPerson = [...this.#waiting.values()].filter((waiting) => waiting.person === person).length
    if (this.#waiting.size >= WAITING_MAX || ofPerson >= WAITING_PER_PERSON)
      throw new Denied(429, 'overloaded', 'too many tunnels wait for their workers; try again', RETRY_SECONDS)
    const ticket = Buffer.from(random(TICKET_BYTES)).toString('base64url')
    const tunnel = Buffer.from(random(ID_BYTES)).toString('hex')
    const came = Promise.withResolvers<TunnelEnd>()
    const hash = hashText(ticket)
    this.#waiting.set(hash, { person, workerKey: link.caller.key, came })
    try {
      const end = await this.#inTime(name, { gone, left: link.signal }, async () => {
        const params = { tunnel, kind, subject, ticket } as const
        while (!link.signal.aborted && !link.notify(NOTIFICATIONS.open.method, params)) await link.drained()
        return came.promise
      })
      return { end, tunnel }
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
