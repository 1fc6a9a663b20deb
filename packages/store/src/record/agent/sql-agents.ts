import { AGENT_LIMITS, AgentId, type MountReport, type UserId, makeId, policySubjectText } from '@parley/protocol'
import {
  type Database,
  type Transaction,
  AlreadyExists,
  InvalidArgument,
  LeaseLost,
  NotFound,
  ShareExceeded,
  integer,
  text,
  textOrNull,
} from '@parley/database'
import { type LeaseFence, fenceValues, makeFence } from '../../lease/fence.ts'
import { queueSignal } from '../../lease/sql-leases.ts'
import { COMPLETE, RELEASE } from '../../lease/statements.ts'
import { copyLog } from '../../log/copy-log.ts'
import { MAX_LIST, MAX_URI_BYTES, checkInteger, checkName } from '../../limits.ts'
import { isPresent, lockUser } from '../access/enabled.ts'
import {
  AGENT_QUEUE,
  type AgentRecord,
  type Agents,
  type MountRecord,
  type NewAgent,
  type NewMount,
  transcriptLog,
} from './agent.ts'
import { putFirstPolicy } from './first-policy.ts'
import { attachMount, detachMount, putMount } from './mounts.ts'
import { markAgent, removeAgent } from './removal.ts'
import { checkAgentName, ownerOf, reportColumn, settingsColumn, toAgent, toMount, toSettings, uriHash } from './row.ts'
import * as sql from './statements.ts'
import {
  announceAgent,
  announceListed,
  changedAgent,
  findOwner,
  lockActive,
  lockHeld,
  lockUsable,
  readAgent,
  wakeLocked,
} from './steps.ts'
import type { Waker } from './waker.ts'

/** The longest that a name may be: one that is made of another is cut to it. */
const MAX_NAME_CHARS = 63

/** Agents as rows; whether one is awake is its lease. */
export class SqlAgents implements Agents {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array
  readonly #waker: Waker

  constructor(db: Database, waker: Waker, now: () => number, random: (size: number) => Uint8Array) {
    this.#db = db
    this.#waker = waker
    this.#now = now
    this.#random = random
  }

  async add(agent: NewAgent): Promise<AgentRecord> {
    const { ownerId, mounts, maxAgents } = agent
    checkAgentName(agent.name ?? firstName(agent.base))
    checkName('preset', agent.preset)
    checkMounts(mounts)
    const settings = settingsColumn(agent.settings)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      await lockUser(tx, ownerId)
      if (!(await isPresent(tx, ownerId))) throw new NotFound(`user ${ownerId}`)
      const id = agent.id ?? makeId(AgentId, 'agt', this.#random)
      const name = agent.name ?? (await freeName(tx, ownerId, agent.base))
      if ((await tx.run(sql.ADD, [id, ownerId, name, agent.kind, agent.preset, settings, now])) === 0) throw nameTaken(name)
      const count = await tx.get(sql.COUNT_OF, [ownerId])
      if (count !== undefined && integer(count, 'agents') > maxAgents) throw new ShareExceeded('agents', maxAgents)
      for (const mount of mounts) await putMount(tx, id, mount, { version: 1, now })
      if (agent.policy !== undefined) await putFirstPolicy(tx, id, agent.policy, now)
      if (agent.knows !== undefined) await this.#copyFrom(tx, id, agent.knows)
      announceListed(tx, { id, ownerId })
      return changedAgent(tx, id, now)
    })
  }

  async byId(id: AgentId): Promise<AgentRecord | undefined> {
    return readAgent(this.#db, id, this.#now())
  }

  async list(page: Parameters<Agents['list']>[0]): Promise<readonly AgentRecord[]> {
    const { ownerId, beforeCreatedAt = Number.MAX_SAFE_INTEGER, beforeId = '', limit } = page
    checkInteger('limit', limit, 1, MAX_LIST)
    const values = [this.#now(), beforeCreatedAt, beforeId, limit]
    const rows =
      ownerId === undefined ? await this.#db.all(sql.LIST, values) : await this.#db.all(sql.LIST_OF, [...values, ownerId])
    return rows.map(toAgent)
  }

  async update(id: AgentId, changes: Parameters<Agents['update']>[1]): Promise<AgentRecord> {
    if (changes.name !== undefined) checkAgentName(changes.name)
    return this.#db.transaction(async (tx) => {
      const now = this.#now()
      const ownerId = await findOwner(tx, id)
      // Names of one owner are given one after the other.
      if (changes.name !== undefined) await lockUser(tx, ownerId)
      const mayWake = changes.settings?.wake !== undefined && (await isPresent(tx, ownerId))
      const row = await lockActive(tx, id)
      const { name = text(row, 'name') } = changes
      const settings = settingsColumn({ ...toSettings(row), ...changes.settings })
      if (name === text(row, 'name') && settings === text(row, 'settings')) return changedAgent(tx, id, now)
      if ((await tx.run(sql.UPDATE, [id, name, settings, now])) === 0) throw nameTaken(name)
      announceListed(tx, { id, ownerId })
      if (mayWake) await this.#waker.ruled(tx, { id, ownerId, row: await lockActive(tx, id) })
      return changedAgent(tx, id, now)
    })
  }

  async markDeleting(id: AgentId): Promise<AgentRecord | undefined> {
    return this.#db.transaction((tx) => markAgent(tx, id, this.#now()))
  }

  async remove(id: AgentId): Promise<boolean> {
    return this.#db.transaction((tx) => removeAgent(tx, id))
  }

  async deleting(limit: number): Promise<readonly AgentId[]> {
    checkInteger('limit', limit, 1, MAX_LIST)
    return (await this.#db.all(sql.DELETING, [limit])).map((row) => AgentId.parse(text(row, 'id')))
  }

  async withOldCalls(before: number, limit: number): Promise<readonly AgentId[]> {
    checkInteger('limit', limit, 1, MAX_LIST)
    return (await this.#db.all(sql.WITH_OLD_CALLS, [before, limit])).map((row) => AgentId.parse(text(row, 'id')))
  }

  async wake(id: AgentId): Promise<boolean> {
    return this.#db.transaction(async (tx) => wakeLocked(tx, await lockUsable(tx, id)))
  }

  async held(id: AgentId): ReturnType<Agents['held']> {
    const row = await this.#db.get(sql.LEASE, [AGENT_QUEUE, id])
    if (row === undefined) return { kind: 'asleep' }
    const host = textOrNull(row, 'holder')
    // One that ran out waits for the next host, as one that was never taken.
    if (host === null || integer(row, 'available_at') <= this.#now()) return { kind: 'waking' }
    return { kind: 'awake', host, fence: makeFence(integer(row, 'id'), integer(row, 'turns')) }
  }

  async sleep(fence: LeaseFence): Promise<void> {
    await this.#whileHeld(fence, async (tx, { id, ownerId, now }) => {
      await tx.run(sql.FORGET_REPORT, [id])
      // Somebody has told it something meanwhile: it is given back for whoever takes it next.
      const isAsked = (await tx.get(sql.HAS_PROMPT, [id])) !== undefined
      const values = fenceValues(fence, now)
      const released = isAsked ? await tx.run(RELEASE, [...values, now, 1]) : await tx.run(COMPLETE, values)
      if (released === 0) throw new LeaseLost(fence)
      if (isAsked) tx.signal(queueSignal(AGENT_QUEUE))
      announceListed(tx, { id, ownerId })
    })
  }

  async report(fence: LeaseFence, mounts: readonly MountReport[]): Promise<void> {
    const reported = reportColumn(mounts)
    await this.#whileHeld(fence, async (tx, { id }) => {
      if ((await tx.run(sql.REPORT, [id, reported, fence.fence])) > 0) announceAgent(tx, id)
    })
  }

  async attach(id: AgentId, mount: NewMount, maxMounts: number): Promise<MountRecord> {
    return this.#db.transaction((tx) => attachMount(tx, id, mount, { most: maxMounts, now: this.#now() }))
  }

  async detach(id: AgentId, name: string): Promise<boolean> {
    return this.#db.transaction((tx) => detachMount(tx, id, name, this.#now()))
  }

  async mounts(id: AgentId): Promise<readonly MountRecord[]> {
    return (await this.#db.all(sql.MOUNTS, [id])).map(toMount)
  }

  async reseal(fence: LeaseFence, { name, version, sealed }: Pick<MountRecord, 'name' | 'version' | 'sealed'>): Promise<boolean> {
    let changed = 0
    await this.#whileHeld(fence, async (tx, { id }) => {
      changed = await tx.run(sql.RESEAL_MOUNT, [id, name, version, sealed])
    })
    return changed > 0
  }

  async listen(fence: LeaseFence, uri: string, max: number, digest: string | null = null): Promise<void> {
    checkName('uri', uri, MAX_URI_BYTES)
    await this.#whileHeld(fence, async (tx, { id }) => {
      if ((await tx.run(sql.LISTEN, [id, uriHash(uri), uri, digest])) === 0) return
      const row = await tx.get(sql.COUNT_SUBSCRIPTIONS, [id])
      if (row !== undefined && integer(row, 'subscriptions') > max) throw new ShareExceeded('subscriptions', max)
    })
  }

  async unlisten(fence: LeaseFence, uri: string): Promise<void> {
    await this.#whileHeld(fence, async (tx, { id }) => {
      await tx.run(sql.UNLISTEN, [id, uriHash(uri)])
    })
  }

  async subscriptions(id: AgentId): Promise<readonly string[]> {
    return (await this.#db.all(sql.SUBSCRIPTIONS, [id])).map((row) => text(row, 'uri'))
  }

  async #copyFrom(tx: Transaction, id: AgentId, { agentId, offset }: NonNullable<NewAgent['knows']>): Promise<void> {
    // Its mounts come along with their secrets: what holds the one with them holds the other, or forking would be the way around it.
    const own = policySubjectText({ layer: 'agent', agentId: id })
    await tx.run(sql.COPY_POLICY, [own, id, policySubjectText({ layer: 'agent', agentId })])
    const log = { from: transcriptLog(agentId), to: transcriptLog(id), offset }
    if (!(await copyLog(tx, this.#db.engine, log)))
      throw new InvalidArgument('offset', 'must be where a line of the transcript ends')
  }

  /** What a host does to an agent, in one commit with the look at its fence. */
  async #whileHeld(
    fence: LeaseFence,
    work: (tx: Transaction, agent: { readonly id: AgentId; readonly ownerId: UserId; readonly now: number }) => Promise<void>,
  ): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const now = this.#now()
      const row = await lockHeld(tx, fence, now)
      await work(tx, { id: AgentId.parse(text(row, 'id')), ownerId: ownerOf(row), now })
    })
  }
}

const nameTaken = (name: string): AlreadyExists => new AlreadyExists(`an agent called ${name}`, 'name')

/** The first of `base`, `base-2`, … that the owner has not. The caller has locked the owner. */
async function freeName(tx: Transaction, ownerId: UserId, base: string): Promise<string> {
  const taken = new Set((await tx.all(sql.NAMES_OF, [ownerId])).map((row) => text(row, 'name')))
  let name = firstName(base)
  for (let number = 2; taken.has(name); number += 1) name = firstName(base, `-${number}`)
  return name
}

/** A name that is as long as one may be, whatever it ends in. */
const firstName = (base: string, end = ''): string => base.slice(0, MAX_NAME_CHARS - end.length) + end

function checkMounts(mounts: readonly NewMount[]): void {
  checkInteger('mounts', mounts.length, 0, AGENT_LIMITS.mounts)
  if (new Set(mounts.map(({ name }) => name)).size < mounts.length)
    throw new InvalidArgument('mounts', 'must have names of their own')
}
