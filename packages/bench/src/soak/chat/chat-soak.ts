import { setTimeout as wait } from 'node:timers/promises'
import { CHAT_LIMITS, ToolError } from '@parley/protocol'
import { type Store, openStore } from '@parley/store'
import type { TestPostgres } from '@parley/store/testing'
import { SOAK_SIDES, type Soak, type SoakOptions, type SoakResult, type SoakSide, type Tally } from '../../soak.ts'
import type { AgentsWorld, SoakAgent } from '../agents/agents-world.ts'
import { checkGone, killOne } from '../agents/kills.ts'
import { engineOf, onBothEngines, onEngines, roundsOf, worldOn } from '../agents/rounds.ts'
import { AdminDesk } from '../approvals/admin-desk.ts'
import { SeededRandom } from '../random.ts'
import { type AgentSide, planToken, type SidePlan } from './agent-side.ts'
import { checkHeard, checkKept, checkLives, type KeptMessage } from './check-chat.ts'
import { planLocal } from './local-side.ts'
import { ReaderProcess } from './reader-process.ts'
import { type Say, Speaker } from './speaker.ts'

const ROUNDS = 200
const PERSONS = 2
const READERS = 3
/** What each of those who speak says in a round, where so much is kept of all rounds. */
const EACH_ROUND = 8
/** Far beyond a lease: on a crowded machine somebody is late, not lost. */
const GOES_ON_MS = 240_000
const AWAY_MS = { least: 0, most: 1_500 }
const PEACE_MS = { least: 200, most: 2_500 }
const POLL_MS = 100
const RETRY_MS = 150
const PAGE = 500
/** Answers of a tool after which it may be said again. */
const PASSING: ReadonlySet<string> = new Set(['unavailable', 'internal', 'rate_limited'])

interface Place {
  readonly world: AgentsWorld
  readonly agent: SoakAgent
  readonly side: AgentSide
  readonly speakers: readonly Speaker[]
  readonly desks: readonly AdminDesk[]
  readonly readers: readonly ReaderProcess[]
  readonly tally: Tally
}

/** How the agent takes part: by its token, or as a local one whose model is told. */
const SIDES: Readonly<Record<SoakSide, (seed: number) => Promise<SidePlan>>> = { external: planToken, local: planLocal }

/** People and an agent talk, and readers follow, whatever is killed: no message is lost, doubled or out of order for any of them. */
export const chatSoak: Soak = {
  name: 'chat',
  summary:
    'people and an agent, of both kinds, talk while gateways, hosts, readers and the database are killed at random, on both engines',
  needs: { programs: [], peers: [] },
  run: (options) => onBothEngines(options, onEngine),
}

/** The same on one engine, for tests. */
export const chatOnEngine = (postgres: TestPostgres | undefined, options: SoakOptions): Promise<SoakResult> =>
  onEngines([postgres], options, onEngine)

async function onEngine(postgres: TestPostgres | undefined, options: SoakOptions, tally: Tally): Promise<void> {
  for (const side of SOAK_SIDES) if (side === (options.side ?? side)) await onSide(side, { postgres, options, tally })
}

interface SoakRun {
  readonly postgres: TestPostgres | undefined
  readonly options: SoakOptions
  readonly tally: Tally
}

async function onSide(kind: SoakSide, { postgres, options, tally }: SoakRun): Promise<void> {
  const engine = engineOf(postgres)
  await using plan = await SIDES[kind](options.seed)
  await using world = await worldOn(postgres, options, { agents: 1, ...plan.world })
  options.log(`${engine}: the agent is ${kind}`)
  const place = await openPlace(world, plan, { postgres, options, tally })
  const { side, speakers, readers, desks } = place
  const random = new SeededRandom(options.seed)
  const rounds = options.rounds ?? Math.round(ROUNDS * options.share)
  const each = Math.max(1, Math.min(EACH_ROUND, Math.floor(CHAT_LIMITS.kept / 2 / speakers.length / (rounds + 2))))
  const begin = (): void => speakers.forEach((speaker) => speaker.allow(each))
  side.start()
  for (const each of [...speakers, ...readers]) each.start()
  begin()
  const kinds = (['gateway', 'host', 'client', 'database'] as const).filter(
    (kind) => kind !== 'database' || postgres !== undefined,
  )
  await roundsOf({ postgres, random, tally }, options, {
    kills: {
      kinds,
      rounds: ROUNDS,
      kill: async (victim) => {
        begin()
        if (victim === 'client') await killClient(place, random)
        else await killOne({ world, postgres, random }, victim)
        return `${engine} kills: ${victim}`
      },
    },
    watch: {
      goesOn: (when) => goOn(place, when),
      progress: () => `${saidBy(place)} messages`,
    },
  })
  await Promise.all(speakers.map((speaker) => speaker.stop()))
  await goOn(place, `${engine} at the end`)
  await Promise.all([...readers.map((reader) => reader.stop()), side.close(), ...desks.map((desk) => desk.close())])
  await world.stop()
  await checkGone(world, tally)
  const store = await openStore({ url: world.storeUrl })
  try {
    check(place, await keptOf(store, place.agent))
  } finally {
    await store.close()
  }
}

async function openPlace(world: AgentsWorld, plan: SidePlan, { postgres, options, tally }: SoakRun): Promise<Place> {
  const engine = engineOf(postgres)
  const [agent] = world.agents
  if (agent === undefined) throw new Error('there is no agent')
  let seeds = options.seed
  const random = (): SeededRandom => new SeededRandom((seeds += 1))
  const side = plan.open({ world, agent, random: random(), tally })
  const desks: AdminDesk[] = []
  const opened = async (): Promise<AdminDesk> => {
    const desk = await AdminDesk.open(world)
    desks.push(desk)
    return desk
  }
  const speakers: Speaker[] = []
  for (let nth = 0; nth < PERSONS; nth += 1)
    speakers.push(
      new Speaker(`${engine}-person-${nth}`, random(), saysAs({ desk: await opened(), agent, random: random(), tally })),
    )
  if (side.say !== undefined) speakers.push(new Speaker(`${engine}-agent`, random(), side.say))
  const readers: ReaderProcess[] = []
  for (let nth = 0; nth < READERS; nth += 1)
    readers.push(new ReaderProcess(`reader-${nth}`, { world, agent, desk: await opened(), random: random(), tally }))
  return { world, agent, side, speakers, desks, readers, tally }
}

/** A person says it again under the same key until it is acknowledged, at any gateway. */
function saysAs({
  desk,
  agent,
  random,
  tally,
}: {
  readonly desk: AdminDesk
  readonly agent: SoakAgent
  readonly random: SeededRandom
  readonly tally: Tally
}): Say {
  return async (text, key) => {
    for (;;) {
      try {
        const { message } = await desk.callAny(random, 'chat.post', { agent_id: agent.id, text, key })
        tally.count('people: acknowledged')
        return message.id
      } catch (error) {
        if (error instanceof ToolError && !PASSING.has(error.code)) {
          tally.problem(`${text} was refused: ${error.message}`)
          return undefined
        }
        tally.count('people: said again')
        await wait(RETRY_MS)
      }
    }
  }
}

/** A reader dies, or the connections of a person are cut in the middle of whatever they do. */
async function killClient({ readers, desks, tally }: Place, random: SeededRandom): Promise<void> {
  await wait(random.between(PEACE_MS.least, PEACE_MS.most))
  const isReader = random.next() < READERS / (READERS + PERSONS)
  if (isReader) random.pick(readers).kill()
  else await random.pick(desks.slice(0, PERSONS)).cut()
  tally.count(isReader ? 'readers killed' : 'people cut off')
  await wait(random.between(AWAY_MS.least, AWAY_MS.most))
}

const saidBy = ({ speakers }: Pick<Place, 'speakers'>): number => speakers.reduce((sum, { said }) => sum + said.length, 0)

/** Everybody has said what they may, and everybody has been told all that was acknowledged. */
async function goOn(place: Place, when: string): Promise<boolean> {
  const until = performance.now() + GOES_ON_MS
  for (;;) {
    const late = lateOf(place)
    if (late.length === 0) return true
    if (performance.now() > until) {
      place.tally.problem(`${when}: ${late.join(', ')}\n${place.world.said()}`)
      return false
    }
    await wait(POLL_MS)
  }
}

function lateOf({ speakers, readers, side }: Place): readonly string[] {
  const said = speakers.flatMap((speaker) => speaker.said)
  const head = Math.max(0, ...said.map(({ place }) => place ?? 0))
  const heard = new Set(side.heard())
  const untold = said.filter(
    ({ speaker, text, place }) =>
      place !== undefined &&
      side.hears({ id: place, from: speaker.endsWith('-agent') ? 'agent' : 'person', text }) &&
      !heard.has(text),
  )
  return [
    ...speakers.filter(({ isDone }) => !isDone).map(({ name }) => `${name} is not answered`),
    ...readers
      .filter(({ place }) => place < head)
      .map((reader) => `${reader.name} is at ${reader.place} of ${head} ${reader.lastError}`),
    ...(untold.length === 0 ? [] : [`the agent was not told ${untold.length} messages (${side.lastError()})`]),
  ]
}

async function keptOf({ chats }: Pick<Store, 'chats'>, { id }: SoakAgent): Promise<readonly KeptMessage[]> {
  const found: KeptMessage[] = []
  for (;;) {
    const { messages } = await chats.read(id, { after: found.length, limit: PAGE })
    if (messages.length === 0) return found
    found.push(...messages.map(({ number, from, text }) => ({ id: number, from, text })))
  }
}

function check({ speakers, readers, side, tally }: Place, kept: readonly KeptMessage[]): void {
  const problem = (text: string): void => tally.problem(text)
  checkKept(
    kept,
    speakers.flatMap(({ said }) => said),
    problem,
  )
  const acknowledged = Math.max(0, ...speakers.flatMap(({ said }) => said.map(({ place }) => place ?? 0)))
  for (const { name, lives } of readers) {
    const { last, again } = checkLives({ name, lives, kept }, problem)
    if (last < acknowledged) problem(`${name} was told up to ${last} of ${acknowledged}`)
    tally.count('told to readers', last)
    tally.count('told again after a kill', again)
    tally.count('lives of readers', lives.length)
  }
  // What the host was still sending when all others had gone was told to nobody.
  const own = kept.filter((message) => side.hears(message) && (message.id <= acknowledged || side.heard().includes(message.text)))
  checkHeard(side.heard(), own, problem)
  tally.count('kept', kept.length)
  tally.count('told to the agent', side.heard().length)
}
