import { setTimeout as wait } from 'node:timers/promises'
import { openStore } from '@parley/store'
import { type TestPostgres, startPostgres } from '@parley/store/testing'
import { processesOf } from '../jobs/leftovers.ts'
import { type Soak, type SoakOptions, type SoakResult, Tally } from '../soak.ts'
import { AgentsWorld } from './agents/agents-world.ts'
import { checkAgent } from './agents/check-effects.ts'
import { EffectCaller } from './agents/effect-caller.ts'
import { SeededRandom } from './random.ts'

const ROUNDS = 50
const AGENTS = 20
const PEACE_MS = { least: 200, most: 2_500 }
const AWAY_MS = { least: 0, most: 2_000 }
/** Far beyond a lease: on a crowded machine an agent is late, not lost. */
const GOES_ON_MS = 180_000
const GONE_MS = 60_000
const POLL_MS = 50

/** `database` is for PostgreSQL alone: SQLite is in the gateway, and dies with it. */
const VICTIMS = ['host', 'gateway', 'mount', 'database'] as const
type Victim = (typeof VICTIMS)[number]

interface Place {
  readonly world: AgentsWorld
  readonly callers: readonly EffectCaller[]
  readonly postgres: TestPostgres | undefined
  readonly random: SeededRandom
  readonly tally: Tally
}

/** Agents go on whatever is killed; each call has one effect at most, exactly one where it was answered, and was written down before. */
export const agentsSoak: Soak = {
  name: 'agents',
  summary: 'agents that are called while gateways, hosts, mounts and the database are killed at random, on both engines',
  needs: { programs: [], peers: [] },
  run: async (options) => {
    const tally = new Tally()
    await onEngine(undefined, options, tally)
    await using postgres = await startPostgres()
    await onEngine(postgres, options, tally)
    return tally.result()
  },
}

/** The same on one engine, for tests. */
export async function agentsOnEngine(postgres: TestPostgres | undefined, options: SoakOptions): Promise<SoakResult> {
  const tally = new Tally()
  await onEngine(postgres, options, tally)
  return tally.result()
}

/** On SQLite one gateway and one host, on PostgreSQL two of each. */
async function onEngine(postgres: TestPostgres | undefined, options: SoakOptions, tally: Tally): Promise<void> {
  const engine = postgres === undefined ? 'sqlite' : 'postgres'
  const count = postgres === undefined ? 1 : 2
  const random = new SeededRandom(options.seed)
  const agents = Math.max(4, Math.round(AGENTS * Math.min(1, options.share)))
  const more = postgres === undefined ? {} : { database: await postgres.createDatabase() }
  await using world = await AgentsWorld.open({ gateways: count, hosts: count, agents, ...more })
  const callers = world.agents.map(
    (agent, index) => new EffectCaller(world, agent, `${engine}-${index}`, new SeededRandom(options.seed + index + 1), tally),
  )
  for (const caller of callers) caller.start()
  const place = { world, callers, postgres, random, tally }
  const victims = VICTIMS.filter((victim) => postgres !== undefined || victim !== 'database')
  const rounds = options.rounds ?? Math.max(victims.length, Math.round(ROUNDS * options.share))
  await goOn(place, `${engine} before the first round`)
  for (let round = 1; round <= rounds; round += 1) {
    // Each kind once before any comes by chance.
    const victim = victims[round - 1] ?? random.pick(victims)
    const began = performance.now()
    await kill(place, victim)
    tally.count(`${engine} kills: ${victim}`)
    const goes = await goOn(place, `${engine} round ${round} (${victim})`)
    options.log(
      `${engine}: round ${round} of ${rounds}, ${victim}, ${callers.reduce((sum, { made }) => sum + made, 0)} calls, ${Math.round(performance.now() - began)} ms`,
    )
    if (!goes) break
  }
  await Promise.all(callers.map((caller) => caller.stop()))
  await world.stop()
  await checkGone(world, tally)
  const store = await openStore({ url: world.storeUrl })
  try {
    for (const [index, agent] of world.agents.entries()) await checkAgent(store, agent, callers[index]?.ends ?? new Map(), tally)
  } finally {
    await store.close()
  }
}

async function kill({ world, postgres, random, tally }: Place, victim: Victim): Promise<void> {
  await wait(random.between(PEACE_MS.least, PEACE_MS.most))
  const awayMs = random.between(AWAY_MS.least, AWAY_MS.most)
  if (victim === 'database') return postgres?.crash(awayMs)
  if (victim === 'mount') {
    const running = random.pick(world.agents).pids()
    if (running.length === 0) tally.count('mounts that did not run')
    return running.forEach(killMount)
  }
  const index = random.between(0, (victim === 'host' ? world.hosts : world.gateways) - 1)
  await (victim === 'host' ? world.killHost(index) : world.killGateway(index))
  await wait(awayMs)
  await (victim === 'host' ? world.startHost(index) : world.startGateway(index))
}

function killMount(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went with its host a moment ago.
  }
}

/** Every agent is called and answers, by a call that was made after this began. */
async function goOn({ world, callers, tally }: Place, when: string): Promise<boolean> {
  // The one that is under way may have been made before.
  const enough = callers.map(({ succeeded }) => succeeded + 2)
  const until = performance.now() + GOES_ON_MS
  for (;;) {
    const late = callers.filter(({ succeeded }, index) => succeeded < (enough[index] ?? 0))
    if (late.length === 0) return true
    if (performance.now() > until) {
      const words = late.map((caller) => `${world.agents[callers.indexOf(caller)]?.id} (${caller.lastError})`)
      tally.problem(`${when}: ${late.length} agents do not go on: ${words.slice(0, 3).join(', ')}\n${world.said()}`)
      return false
    }
    await wait(POLL_MS)
  }
}

/** Nothing of the world may be left running: all that it starts has its folder among its arguments. */
async function checkGone({ folder }: AgentsWorld, tally: Tally): Promise<void> {
  const left = (): readonly string[] => processesOf(folder).filter((process) => process.includes(folder))
  const until = performance.now() + GONE_MS
  while (left().length > 0 && performance.now() < until) await wait(POLL_MS)
  for (const process of left()) tally.problem(`left running: ${process}`)
}
