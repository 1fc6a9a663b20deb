import type { Database } from '@parley/database'
import { AGENT_LIMITS, AgentSettings, AgentId, makeId } from '@parley/protocol'
import type { AgentRecord, Store, UserRecord } from '@parley/store'
import { openMemoryDatabase, storeOver } from '@parley/store/testing'
import { SeededRandom } from '../random.ts'
import { ScheduleWorld } from './schedule-world.ts'

/** One database serves many schedules, each with an agent of its own. */
export interface ScheduleHouse {
  readonly db: Database
  readonly store: Store
  readonly users: readonly UserRecord[]
  /** What the store of the house goes by: between schedules nobody else's time counts. */
  readonly clock: { now: number }
}

const START = 1_000_000
const STEPS_MAX = 6_000
/** Faults come among so many steps from the beginning; then the world is left alone. */
const DISTURBED_STEPS = 160
/** What a schedule leaves rows in. */
const LIVED_IN = ['approvals', 'allowances', 'policies', 'log_entries', 'logs', 'leases', 'served_rounds', 'workers', 'agents']

export async function openHouse(): Promise<ScheduleHouse> {
  const clock = { now: START }
  const db = await openMemoryDatabase()
  const ids = new SeededRandom(1)
  const store = storeOver(db, { now: () => clock.now, random: (size) => ids.bytes(size) })
  const users = []
  for (const username of ['ada', 'bob']) users.push(await store.users.add({ username, passwordHash: null, admin: true }))
  return { db, store, users, clock }
}

export interface ScheduleResult {
  readonly problems: readonly string[]
  readonly trace: readonly string[]
  readonly steps: number
  /** How its approvals ended, and what was done to the world. */
  readonly counts: ReadonlyMap<string, number>
}

export interface ScheduleOptions {
  readonly storeFor?: (store: Store, db: Database) => Store
}

/** Runs one schedule of an approval's life: everything in it follows from the seed. */
export async function runSchedule(house: ScheduleHouse, seed: number, options: ScheduleOptions = {}): Promise<ScheduleResult> {
  const random = new SeededRandom(seed)
  house.clock.now = START
  const agent = await newAgent(house, random)
  const world = new ScheduleWorld({ ...house, ...options, agent, random, now: START })
  await world.begin()
  let steps = 0
  for (; steps < DISTURBED_STEPS && world.problems.length === 0; steps += 1) {
    world.disturb(steps)
    if (!(await world.step())) break
  }
  world.leaveAlone()
  for (; steps < STEPS_MAX && world.problems.length === 0; steps += 1) if (!(await world.stepAlone())) break
  const isStuck = steps >= STEPS_MAX
  if (world.problems.length === 0) world.end(isStuck)
  world.close()
  house.clock.now = world.now
  await forget(house)
  return { problems: world.problems, trace: world.trace, steps, counts: world.counts() }
}

async function newAgent({ store, users }: ScheduleHouse, random: SeededRandom): Promise<AgentRecord> {
  const [owner] = users
  if (owner === undefined) throw new Error('nobody lives here')
  const agent = await store.agents.add({
    id: makeId(AgentId, 'agt', (size) => random.bytes(size)),
    ownerId: owner.id,
    name: 'helper',
    base: 'default',
    kind: 'external',
    preset: 'default',
    settings: AgentSettings.parse({ instructions: '', model: null, engine: null }),
    mounts: [],
    maxAgents: AGENT_LIMITS.perPerson,
  })
  await store.agents.wake(agent.id)
  return agent
}

/** The next schedule finds an empty house. */
async function forget({ db }: ScheduleHouse): Promise<void> {
  for (const table of LIVED_IN) await db.run(`DELETE FROM ${table}`, [])
}
