import { personOf, type Holding } from '../core/callers.ts'
import type { Host } from '../core/host.ts'
import { Denied } from '../door.ts'
import type { Caller } from '../service.ts'
import { SHUTDOWN_REASON } from '../websocket/server.ts'
import type { Exchange } from './endpoint.ts'
import { type BodyOutcome, readBody } from './read-body.ts'

/** How a body came in, unless nobody is there any more or may not be. */
export type Arrived = Exclude<BodyOutcome, { kind: 'gone' }>

/**
 * A POST whose body is on its way, which may take a minute. Whoever loses access meanwhile is cut like a session, and the
 * door is asked again when the body is there: nothing is done for somebody who was let in only when the headers came.
 */
export class Arrival<C extends Caller> implements Holding<C> {
  readonly caller: C
  readonly lasting = false
  readonly #host: Host<C>
  readonly #exchange: Exchange<C>
  #isCut = false

  constructor(host: Host<C>, exchange: Exchange<C>) {
    this.#host = host
    this.#exchange = exchange
    this.caller = exchange.caller
  }

  read(done: (arrived: Arrived, exchange: Exchange<C>) => void): void {
    const { callers, bodies, turns, limits } = this.#host
    const { request, response } = this.#exchange
    const share = bodies.ofCaller(this.caller)
    // Until its exchange is over, what the body said may be in use.
    response.once('close', () => share.release())
    callers.add(this)
    readBody(request, { limitBytes: limits.messageBytes, share }, (outcome) => {
      callers.remove(this)
      if (outcome.kind === 'gone' || this.#isCut) return
      if (outcome.kind !== 'body') return done(outcome, this.#exchange)
      // The door comes last: whoever waits for a turn may lose access in that time, too.
      turns.run(personOf(this.caller), outcome.bytes.length, () => this.#again((exchange) => done(outcome, exchange)))
    })
  }

  end(reason: string): void {
    this.#isCut = true
    // The rest of the body must not be read as the next request.
    const refuse = (error: unknown): void => this.#exchange.refuse(error, { connection: 'close' })
    const ended =
      reason === SHUTDOWN_REASON
        ? new Denied(503, 'unavailable', reason, 1)
        : new Denied(401, reason, 'what this token may do has changed while the body was on its way; send it again')
    // The door has the words for why somebody may not come in any more.
    void this.#stillLetIn().then(() => refuse(ended), refuse)
  }

  async #stillLetIn(): Promise<void> {
    await this.#exchange.again()
  }

  #again(enter: (exchange: Exchange<C>) => void): void {
    const exchange = this.#exchange
    const entered = (caller: C): void => {
      if (!exchange.response.destroyed) enter(caller === exchange.caller ? exchange : { ...exchange, caller })
    }
    try {
      const caller = exchange.again()
      if (caller instanceof Promise) caller.then(entered).catch((error: unknown) => exchange.refuse(error))
      else entered(caller)
    } catch (error) {
      exchange.refuse(error)
    }
  }
}
