import { RpcError } from '@parley/protocol'
import { personOf } from '../limit/callers.ts'
import { type Leavable, longestUnattended } from '../limit/unattended.ts'
import type { Call, Caller, Link } from '../service.ts'
import { askable } from './askable.ts'
import type { ParkedCall } from './parked-call.ts'
import { type Orphans, type RelayParts, Upstream } from './upstream.ts'

/** An upstream for the time of one call. */
export interface LentUpstream<C extends Caller> {
  readonly upstream: Upstream<C>
  /** From now on the call goes on without its client, and can be given up while the client does not come back. */
  park(call: ParkedCall): void
  release(): void
}

/** An upstream and whom it is for. */
interface Owned<C extends Caller> extends Leavable {
  readonly upstream: Upstream<C>
  /** Makes room: whoever it was for is not coming back, as far as anybody can tell. */
  giveUp(): void
}

const GIVEN_UP = 'given up for another: nobody was there'

/**
 * The connections of clients that can be asked, each for one client alone: a question need not say which call it belongs to, on
 * a pipe never and over HTTP on the stream that belongs to no call, so whoever shares a connection is asked what others
 * are meant to be. A session has its connection for as long as it lives. A modern call says nothing of which client it comes
 * from, so it has its own, which ends with it: a question that comes late finds nobody rather than somebody else.
 *
 * Each may be a process, so there are few. Clients vanish without a word: where all are taken, the one goes at whose other end nobody
 * has been for the longest time, and none that somebody uses.
 */
export class OwnUpstreams<C extends Caller> {
  readonly #parts: RelayParts
  readonly #byLink = new Map<string, Owned<C>>()
  readonly #ofCalls = new Set<Owned<C>>()

  constructor(parts: RelayParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#byLink.size + this.#ofCalls.size
  }

  ofLink(link: Link<C>): Upstream<C> | undefined {
    return this.#byLink.get(link.id)?.upstream
  }

  open(link: Link<C>, orphans: Orphans<C>): Upstream<C> {
    this.#makeRoom(link.caller)
    const upstream = new Upstream<C>(this.#parts, askable(link.client.capabilities), orphans)
    this.#byLink.set(link.id, {
      upstream,
      caller: link.caller,
      unattendedMs: () => link.unattendedMs(),
      // Its end comes back here as `closeLink`.
      giveUp: () => link.close(GIVEN_UP),
    })
    return upstream
  }

  closeLink(link: Link<C>): void {
    const owned = this.#byLink.get(link.id)
    this.#byLink.delete(link.id)
    if (owned !== undefined) this.#end(owned)
  }

  lease({ client, caller }: Call<C>): LentUpstream<C> {
    this.#makeRoom(caller)
    const upstream = new Upstream<C>(this.#parts, askable(client.capabilities), { notified: () => {} })
    let parked: ParkedCall | undefined
    const owned: Owned<C> = {
      upstream,
      caller,
      unattendedMs: () => parked?.unattendedMs(),
      giveUp: () => {
        parked?.giveUp()
        release()
      },
    }
    const release = (): void => {
      if (this.#ofCalls.delete(owned)) this.#end(owned)
    }
    this.#ofCalls.add(owned)
    return {
      upstream,
      park: (call) => {
        parked = call
      },
      release,
    }
  }

  async close(): Promise<void> {
    const all = [...this.#all()]
    this.#byLink.clear()
    this.#ofCalls.clear()
    await Promise.all(all.map(({ upstream }) => upstream.close()))
  }

  *#all(): Iterable<Owned<C>> {
    yield* this.#byLink.values()
    yield* this.#ofCalls
  }

  #makeRoom(caller: C): void {
    const { ownUpstreams, ownUpstreamsPerCaller, unattendedMs: forMs } = this.#parts.limits
    const person = personOf(caller)
    const theirs = [...this.#all()].filter((owned) => personOf(owned.caller) === person).length
    const isOverShare = theirs >= ownUpstreamsPerCaller
    if (!isOverShare && this.size < ownUpstreams) return
    const left = longestUnattended(this.#all(), { forMs, person: isOverShare ? person : undefined })
    if (left !== undefined) return left.giveUp()
    const most = isOverShare ? `${ownUpstreamsPerCaller} clients of one caller` : `${ownUpstreams} clients`
    throw new RpcError(
      'overloaded',
      `at most ${most} that declare elicitation, sampling or roots can be served at once; close one, or connect without them`,
    )
  }

  #end({ upstream }: Owned<C>): void {
    upstream.close().catch((error: unknown) => this.#parts.log('warn', String(error)))
  }
}
