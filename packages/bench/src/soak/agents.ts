import { setTimeout as wait } from 'node:timers/promises'
import { openStore } from '@parley/store'
import type { TestPostgres } from '@parley/store/testing'
import { type Soak, type SoakOptions, type SoakResult, type Tally } from '../soak.ts'
import type { AgentsWorld } from './agents/agents-world.ts'
import { checkAgent } from './agents/check-effects.ts'
import { EffectCaller } from './agents/effect-caller.ts'
import { checkGone } from './agents/kills.ts'
import { engineOf, killRounds, onBothEngines, onEngines, worldOn } from './agents/rounds.ts'
import { SeededRandom } from './random.ts'

/** Far beyond a lease: on a crowded machine an agent is late, not lost. */
const GOES_ON_MS = 180_000
const POLL_MS = 50

interface Place {
  readonly world: AgentsWorld
  readonly callers: readonly EffectCaller[]
  readonly tally: Tally
}

/** Agents go on whatever is killed; each call has one effect at most, exactly one where it was answered, and was written down before. */
export const agentsSoak: Soak = {
  name: 'agents',
  summary: 'agents that are called while gateways, hosts, mounts and the database are killed at random, on both engines',
  needs: { programs: [], peers: [] },
  run: (options) => onBothEngines(options, onEngine),
}

/** The same on one engine, for tests. */
export const agentsOnEngine = (postgres: TestPostgres | undefined, options: SoakOptions): Promise<SoakResult> =>
  onEngines([postgres], options, onEngine)

async function onEngine(postgres: TestPostgres | undefined, options: SoakOptions, tally: Tally): Promise<void> {
  await using world = await worldOn(postgres, options)
  const callers = world.agents.map(
    (agent, index) =>
      new EffectCaller(world, agent, `${engineOf(postgres)}-${index}`, new SeededRandom(options.seed + index + 1), tally),
  )
  for (const caller of callers) caller.start()
  const random = new SeededRandom(options.seed)
  await killRounds({ world, postgres, random, tally }, options, {
    goesOn: (when) => goOn({ world, callers, tally }, when),
    progress: () => `${callers.reduce((sum, { made }) => sum + made, 0)} calls`,
  })
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
