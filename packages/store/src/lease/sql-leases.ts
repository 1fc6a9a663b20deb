import { type Database, type Row, type Value, LeaseLost, integer, text } from '@parley/database'
import {
  MAX_CLAIM_WAIT_MS,
  MAX_LANES_LEFT_OUT,
  MAX_LEASE_TTL_MS,
  MAX_NAME_BYTES,
  MAX_PAYLOAD_BYTES,
  checkInteger,
  checkName,
  checkText,
} from '../limits.ts'
import { CLAIM_FAR, CLAIM_NEAR } from './claim-of-others.ts'
import { type LeaseFence, fenceValues, makeFence } from './fence.ts'
import type { ClaimOptions, Lease, Leases, OfferOptions } from './lease.ts'
import { CHECK, CLAIM, COMPLETE, COUNT, GET, GRACE, NEXT_DUE, OFFER, RELEASE, RENEW, SERVE, WITHDRAW } from './statements.ts'
import { type Taker, WaitingLine } from './waiting-line.ts'

/** Leases as rows: each transition is one guarded statement. */
export class SqlLeases implements Leases {
  readonly #db: Database
  readonly #now: () => number
  readonly #lines = new Map<string, WaitingLine>()

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async offer(queue: string, key: string, options: OfferOptions = {}): Promise<boolean> {
    const { payload = '', notBefore = 0, lane = '' } = options
    checkName('queue', queue)
    checkName('key', key)
    checkText('payload', payload, MAX_PAYLOAD_BYTES)
    checkInteger('notBefore', notBefore, 0)
    checkText('lane', lane, MAX_NAME_BYTES)
    return (await this.#db.change(OFFER, [queue, key, payload, notBefore, lane], queueSignal(queue))) > 0
  }

  async claim(
    queue: string,
    holder: string,
    { ttlMs, waitMs = 0, signal, without = [], standsBack = false }: ClaimOptions,
  ): Promise<Lease | undefined> {
    checkName('queue', queue)
    checkName('holder', holder)
    checkInteger('ttlMs', ttlMs, 1, MAX_LEASE_TTL_MS)
    checkInteger('waitMs', waitMs, 0, MAX_CLAIM_WAIT_MS)
    checkInteger('without', without.length, 0, MAX_LANES_LEFT_OUT)
    for (const lane of without) checkText('without', lane, MAX_NAME_BYTES)
    if (isAborted(signal)) return undefined
    const lease = await this.#take(queue, { holder, ttlMs, without })
    if (lease !== undefined || waitMs === 0 || isAborted(signal) || this.#db.signals.ended) return lease
    return this.#line(queue).wait({ holder, ttlMs, waitMs, signal, without, standsBack })
  }

  async serve(fence: LeaseFence): Promise<void> {
    await this.check(fence)
    await this.#db.run(SERVE, [fence.queue, fence.key])
  }

  async renew(fence: LeaseFence, ttlMs: number): Promise<{ readonly expiresAt: number }> {
    checkInteger('ttlMs', ttlMs, 1, MAX_LEASE_TTL_MS)
    const now = this.#now()
    this.#held(fence, await this.#db.run(RENEW, [...fenceValues(fence, now), now + ttlMs]))
    return { expiresAt: now + ttlMs }
  }

  async release(fence: LeaseFence, options: { readonly countClaim?: boolean; readonly notBefore?: number } = {}): Promise<void> {
    const { countClaim = true, notBefore = 0 } = options
    checkInteger('notBefore', notBefore, 0)
    const values = [...fenceValues(fence, this.#now()), notBefore, countClaim ? 0 : 1]
    this.#held(fence, await this.#db.change(RELEASE, values, queueSignal(fence.queue)))
  }

  async complete(fence: LeaseFence): Promise<void> {
    this.#held(fence, await this.#db.run(COMPLETE, fenceValues(fence, this.#now())))
  }

  async withdraw(queue: string, key: string): Promise<boolean> {
    return (await this.#db.run(WITHDRAW, [queue, key])) > 0
  }

  async grace(ttlMs: number): Promise<void> {
    checkInteger('ttlMs', ttlMs, 1, MAX_LEASE_TTL_MS)
    await this.#db.run(GRACE, [this.#now() + ttlMs])
  }

  async check(fence: LeaseFence): Promise<void> {
    this.#held(fence, (await this.#db.get(CHECK, fenceValues(fence, this.#now()))) === undefined ? 0 : 1)
  }

  async get(queue: string, key: string): Promise<Lease | undefined> {
    const row = await this.#db.get(GET, [queue, key, this.#now()])
    return row && toLease(row, { queue, key, holder: text(row, 'holder'), expiresAt: integer(row, 'available_at') })
  }

  async count(queue: string): Promise<{ readonly waiting: number; readonly held: number }> {
    const row = await this.#db.get(COUNT, [queue, this.#now()])
    const items = row === undefined ? 0 : integer(row, 'held')
    return { waiting: (row === undefined ? 0 : integer(row, 'total')) - items, held: items }
  }

  async #take(queue: string, { holder, ttlMs, without }: Taker): Promise<Lease | undefined> {
    const now = this.#now()
    const values = [queue, holder, now, now + ttlMs]
    const row =
      without.length === 0 ? await this.#db.get(CLAIM, values) : await this.#takeOfOthers([...values, JSON.stringify(without)])
    return row && toLease(row, { queue, key: text(row, 'key'), holder, expiresAt: now + ttlMs })
  }

  async #takeOfOthers(values: readonly Value[]): Promise<Row | undefined> {
    return (await this.#db.get(CLAIM_NEAR, values)) ?? (await this.#db.get(CLAIM_FAR, values))
  }

  #line(queue: string): WaitingLine {
    const known = this.#lines.get(queue)
    if (known !== undefined) return known
    const counter = {
      take: (taker: Taker) => this.#take(queue, taker),
      nextDueMs: () => this.#nextDueMs(queue),
      giveBack: (lease: Lease) => this.release(lease, { countClaim: false }),
    }
    const line = new WaitingLine(counter, this.#db.signals, queueSignal(queue), () => this.#lines.delete(queue))
    this.#lines.set(queue, line)
    return line
  }

  async #nextDueMs(queue: string): Promise<number | undefined> {
    const row = await this.#db.get(NEXT_DUE, [queue])
    return row === undefined || row['due'] === null ? undefined : integer(row, 'due') - this.#now()
  }

  #held(fence: LeaseFence, changes: number): void {
    if (changes === 0) throw new LeaseLost(fence)
  }
}

const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true

/** Wakes those who wait for an item of the queue. */
export const queueSignal = (queue: string): string => `queue/${queue}`

function toLease(row: Row, known: Pick<Lease, 'queue' | 'key' | 'holder' | 'expiresAt'>): Lease {
  return {
    ...known,
    fence: makeFence(integer(row, 'id'), integer(row, 'turns')),
    claims: integer(row, 'claims'),
    payload: text(row, 'payload'),
  }
}
