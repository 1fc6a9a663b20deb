import { type TestPostgres, startPostgres } from '@parley/store/testing'
import { type SoakOptions, type SoakResult, Tally } from '../../soak.ts'
import type { SeededRandom } from '../random.ts'
import { AgentsWorld, type AgentsWorldOptions } from './agents-world.ts'
import { type Kill, killOne, type Victim, victimsOn } from './kills.ts'

const ROUNDS = 50
const AGENTS = 20
const LEAST_AGENTS = 4

export const engineOf = (postgres: TestPostgres | undefined): 'sqlite' | 'postgres' =>
  postgres === undefined ? 'sqlite' : 'postgres'

/** On SQLite one gateway and one host, on PostgreSQL two of each. */
export async function worldOn(
  postgres: TestPostgres | undefined,
  { share }: Pick<SoakOptions, 'share'>,
  asked: Partial<Pick<AgentsWorldOptions, 'agents' | 'env' | 'makeAgent'>> = {},
): Promise<AgentsWorld> {
  const agents = Math.max(LEAST_AGENTS, Math.round(AGENTS * Math.min(1, share)))
  const count = postgres === undefined ? 1 : 2
  const more = postgres === undefined ? {} : { database: await postgres.createDatabase() }
  return AgentsWorld.open({ gateways: count, hosts: count, agents, ...asked, ...more })
}

/** A long run on one engine; what it finds goes into the tally. */
type OnEngine = (postgres: TestPostgres | undefined, options: SoakOptions, tally: Tally) => Promise<void>

export async function onBothEngines(options: SoakOptions, onEngine: OnEngine): Promise<SoakResult> {
  await using postgres = await startPostgres()
  return await onEngines([undefined, postgres], options, onEngine)
}

/** On each of these, one after the other; `undefined` is SQLite. */
export async function onEngines(
  engines: readonly (TestPostgres | undefined)[],
  options: SoakOptions,
  onEngine: OnEngine,
): Promise<SoakResult> {
  const tally = new Tally()
  for (const postgres of engines) await onEngine(postgres, options, tally)
  return tally.result()
}

export interface RoundsWatch {
  /** Whether everything has gone on since it was called. */
  goesOn(when: string): Promise<boolean>
  /** What has been done so far, in words. */
  progress(): string
}

interface RoundsPlace {
  readonly postgres: TestPostgres | undefined
  readonly random: SeededRandom
  readonly tally: Tally
}

/** What is killed in the rounds of a soak. */
export interface Kills<Kind extends string> {
  readonly kinds: readonly Kind[]
  /** How many rounds the full form has. */
  readonly rounds: number
  /** Kills one; what it was is back when this settles. Answers under which name it is counted. */
  kill(kind: Kind): Promise<string>
}

/** Kills one after the other at random; each time everything must go on before the next. */
export async function killRounds(
  place: RoundsPlace & { readonly world: AgentsWorld },
  options: SoakOptions,
  watch: RoundsWatch & { killed?(kill: Kill): void },
): Promise<void> {
  const engine = engineOf(place.postgres)
  const kill = async (victim: Victim): Promise<string> => {
    const killed = await killOne(place, victim)
    if (killed !== undefined) watch.killed?.(killed)
    return killed === undefined ? 'mounts that did not run' : `${engine} kills: ${victim}`
  }
  await roundsOf(place, options, { kills: { kinds: victimsOn(place.postgres), rounds: ROUNDS, kill }, watch })
}

/** The same with whatever a soak kills. */
export async function roundsOf<Kind extends string>(
  { postgres, random, tally }: RoundsPlace,
  options: SoakOptions,
  { kills, watch }: { readonly kills: Kills<Kind>; readonly watch: RoundsWatch },
): Promise<void> {
  const engine = engineOf(postgres)
  const rounds = options.rounds ?? Math.max(kills.kinds.length, Math.round(kills.rounds * options.share))
  await watch.goesOn(`${engine} before the first round`)
  for (let round = 1; round <= rounds; round += 1) {
    // Each kind once before any comes by chance.
    const victim = kills.kinds[round - 1] ?? random.pick(kills.kinds)
    const began = performance.now()
    tally.count(await kills.kill(victim))
    const goes = await watch.goesOn(`${engine} round ${round} (${victim})`)
    options.log(
      `${engine}: round ${round} of ${rounds}, ${victim}, ${watch.progress()}, ${Math.round(performance.now() - began)} ms`,
    )
    if (!goes) return
  }
}
