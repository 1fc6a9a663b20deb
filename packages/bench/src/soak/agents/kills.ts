import { setTimeout as wait } from 'node:timers/promises'
import type { TestPostgres } from '@parley/store/testing'
import { processesOf } from '../../jobs/leftovers.ts'
import type { Tally } from '../../soak.ts'
import type { SeededRandom } from '../random.ts'
import type { AgentsWorld } from './agents-world.ts'

const PEACE_MS = { least: 200, most: 2_500 }
const AWAY_MS = { least: 0, most: 2_000 }
const GONE_MS = 60_000
const POLL_MS = 50

const VICTIMS = ['host', 'gateway', 'mount', 'database'] as const
export type Victim = (typeof VICTIMS)[number]

/** Something that was killed: which of its kind, and when, by the time of day. */
export interface Kill {
  readonly victim: Victim
  readonly index: number
  readonly at: number
}

/** `database` is for PostgreSQL alone: SQLite is in the gateway, and dies with it. */
export function victimsOn(postgres: TestPostgres | undefined): readonly Victim[] {
  return VICTIMS.filter((victim) => postgres !== undefined || victim !== 'database')
}

/** After a moment of peace kills one, which is back when this settles. `undefined`: it did not run. */
export async function killOne(
  {
    world,
    postgres,
    random,
  }: { readonly world: AgentsWorld; readonly postgres: TestPostgres | undefined; readonly random: SeededRandom },
  victim: Victim,
): Promise<Kill | undefined> {
  await wait(random.between(PEACE_MS.least, PEACE_MS.most))
  const awayMs = random.between(AWAY_MS.least, AWAY_MS.most)
  const index = random.between(0, countOf(world, victim) - 1)
  const kill = { victim, index, at: Date.now() }
  if (victim === 'database') await postgres?.crash(awayMs)
  if (victim === 'mount') {
    const running = world.agents[index]?.pids() ?? []
    running.forEach(killMount)
    return running.length === 0 ? undefined : kill
  }
  if (victim === 'host') {
    await world.killHost(index)
    await wait(awayMs)
    await world.startHost(index)
  }
  if (victim === 'gateway') {
    await world.killGateway(index)
    await wait(awayMs)
    await world.startGateway(index)
  }
  return kill
}

function countOf(world: AgentsWorld, victim: Victim): number {
  switch (victim) {
    case 'host':
      return world.hosts
    case 'gateway':
      return world.gateways
    case 'mount':
      return world.agents.length
    case 'database':
      return 1
  }
}

function killMount(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It went with its host a moment ago.
  }
}

/** Nothing of the world may be left running: all that it starts has its folder among its arguments. */
export async function checkGone({ folder }: AgentsWorld, tally: Tally): Promise<void> {
  const left = (): readonly string[] => processesOf(folder).filter((process) => process.includes(folder))
  const until = performance.now() + GONE_MS
  while (left().length > 0 && performance.now() < until) await wait(POLL_MS)
  for (const process of left()) tally.problem(`left running: ${process}`)
}
