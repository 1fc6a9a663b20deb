import { setTimeout as wait } from 'node:timers/promises'
import { type Store, openStore } from '@parley/store'
import type { TestPostgres } from '@parley/store/testing'
import { messageOf } from '@parley/protocol'
import { type Soak, type SoakOptions, type SoakResult, type Tally } from '../../soak.ts'
import type { AgentsWorld } from '../agents/agents-world.ts'
import { type Kill, checkGone } from '../agents/kills.ts'
import { engineOf, killRounds, onBothEngines, onEngines, worldOn } from '../agents/rounds.ts'
import { SeededRandom } from '../random.ts'
import { AdminDesk } from './admin-desk.ts'
import { ApprovalLedger, isOver } from './approval-ledger.ts'
import { type AskedCall, AskingCaller } from './asking-caller.ts'
import { type Effect, checkDoubled, checkEffects, checkHeard, checkReturned, checkUnknown, sentAs } from './check-approvals.ts'
import { Deciders } from './deciders.ts'
import { type KeptApproval, keptOfRecord, shownApproval } from './kept-approval.ts'

/** Longer than the lease of a host, so that what a dead one had asked is found again. */
const GATE_WAIT_MS = 25_000
const ENV = { PARLEY_GATE_DEFAULT: 'ask', PARLEY_GATE_WAIT_MS: String(GATE_WAIT_MS) }
const CALLERS_PER_AGENT = 2
/** Far beyond a lease and what a person has: on a crowded machine an agent is late, not lost. */
const GOES_ON_MS = 240_000
/** What nobody waits for ends when its time is up and a gateway looks, once a minute. */
const ENDS_MS = 240_000
const POLL_MS = 100
const PAGE = 500

interface Place {
  readonly world: AgentsWorld
  readonly callers: readonly AskingCaller[]
  readonly desks: readonly AdminDesk[]
  readonly deciders: Deciders
  readonly ledger: ApprovalLedger
  readonly kills: Kill[]
  readonly isInGateway: boolean
  readonly problem: (text: string, call: string) => void
  readonly tally: Tally
}

/** Calls that people are asked about, whatever is killed: each is decided once and sent at most once, only after a yes. */
export const approvalsSoak: Soak = {
  name: 'approvals',
  summary: 'calls that people decide about while gateways, hosts, mounts and the database are killed at random, on both engines',
  needs: { programs: [], peers: [] },
  run: (options) => onBothEngines(options, onEngine),
}

/** The same on one engine, for tests. */
export const approvalsOnEngine = (postgres: TestPostgres | undefined, options: SoakOptions): Promise<SoakResult> =>
  onEngines([postgres], options, onEngine)

async function onEngine(postgres: TestPostgres | undefined, options: SoakOptions, tally: Tally): Promise<void> {
  const { seed } = options
  await using world = await worldOn(postgres, options, { env: ENV })
  const problem = (text: string): void => {
    tally.problem(text)
    options.log(text)
  }
  const place = await openPlace(world, { engine: engineOf(postgres), seed, tally, problem })
  const { callers, deciders, ledger, kills } = place
  deciders.start()
  for (const caller of callers) caller.start()
  await killRounds({ world, postgres, random: new SeededRandom(seed), tally }, options, {
    killed: (kill) => kills.push(kill),
    goesOn: async (when) => (await goOn(place, when)) && (await lookAround(place, when)),
    progress: () => `${callers.reduce((sum, { calls }) => sum + calls.length, 0)} calls, ${ledger.approvals.length} approvals`,
  })
  await Promise.all(callers.map((caller) => caller.stop()))
  await deciders.stop()
  await untilEnded(place)
  await Promise.all(place.desks.map((desk) => desk.close()))
  await world.stop()
  await checkGone(world, tally)
  const store = await openStore({ url: world.storeUrl })
  try {
    await checkStore(place, store)
  } finally {
    await store.close()
  }
}

async function openPlace(
  world: AgentsWorld,
  options: {
    readonly engine: 'sqlite' | 'postgres'
    readonly seed: number
    readonly tally: Tally
    readonly problem: (text: string) => void
  },
): Promise<Place> {
  const { engine, seed, tally } = options
  const random = new SeededRandom(seed + 1)
  const ledger = new ApprovalLedger((text) => options.problem(`${text}\n      --seed ${seed}`))
  const problem = (text: string, call: string): void =>
    options.problem(`${text}\n      ${call} of --seed ${seed}${ledger.historyOf(call)}`)
  const desks = [await AdminDesk.open(world), await AdminDesk.open(world)] as const
  const deciders = new Deciders({ desks, gateways: world.gateways, seed, random, ledger, tally, problem })
  const callers = world.agents.flatMap((agent, index) =>
    Array.from({ length: CALLERS_PER_AGENT }, (_, nth) => {
      const isKnown = (call: string): boolean => ledger.of(call).length > 0
      const isAttended = (asked: string): Promise<boolean> => deciders.isAttended({ agentId: agent.id, asked })
      const ports = { world, agent, tally, problem, isKnown, isAttended }
      return new AskingCaller(ports, `${engine}-${index}-${nth}`, seed + 2 + index * CALLERS_PER_AGENT + nth)
    }),
  )
  return { world, callers, desks, deciders, ledger, kills: [], isInGateway: engine === 'sqlite', problem, tally }
}

/** Of every agent a call has ended that was made after this began, whatever people said to it. */
async function goOn({ world, callers, tally }: Place, when: string): Promise<boolean> {
  const began = performance.now()
  for (;;) {
    const late = world.agents.filter((agent) => !callers.some((caller) => caller.agent === agent && caller.endedBegan >= began))
    if (late.length === 0) return true
    if (performance.now() > began + GOES_ON_MS) {
      const words = late.map((agent) => `${agent.id} (${callers.find((caller) => caller.agent === agent)?.lastError})`)
      tally.problem(`${when}: ${late.length} agents do not go on: ${words.slice(0, 3).join(', ')}\n${world.said()}`)
      return false
    }
    await wait(POLL_MS)
  }
}

/** Everything that was sent so far was let through before: what mounts did is read first, so that all of it is written down by then. */
async function lookAround({ world, ledger, deciders, problem, tally }: Place, when: string): Promise<boolean> {
  const effects = effectsOf(world)
  const began = Date.now()
  const until = performance.now() + GOES_ON_MS
  for (;;) {
    try {
      await deciders.lookAtAll()
      break
    } catch (error) {
      if (performance.now() > until) {
        tally.problem(`${when}: nobody says what is asked: ${messageOf(error)}`)
        return false
      }
      await wait(POLL_MS)
    }
  }
  const before = tally.problems
  checkEffects({ approvals: ledger.approvals, effects }, problem)
  checkReturned({ approvals: ledger.approvals, effects: effectsOf(world) }, problem)
  // One that was asked about since may follow another that has ended since, and was looked at before.
  checkDoubled(
    ledger.approvals.filter(({ createdAt }) => createdAt < began),
    problem,
  )
  return tally.problems === before
}

/** With nobody calling any more everything comes to an end. */
async function untilEnded({ ledger, deciders, tally, world }: Place): Promise<void> {
  const until = performance.now() + ENDS_MS
  for (;;) {
    await deciders.lookAtAll().catch(() => tally.count('looks that failed'))
    const open = ledger.approvals.filter((approval) => !isOver(approval))
    if (open.length === 0) return
    if (performance.now() > until) {
      for (const each of open)
        tally.problem(`it has no end: ${shownApproval(each)}${ledger.historyOf(each.asked)}\n${world.said()}`)
      return
    }
    await wait(POLL_MS * 5)
  }
}

async function checkStore(place: Place, store: Pick<Store, 'approvals'>): Promise<void> {
  const { world, ledger, callers, kills, isInGateway, problem, tally } = place
  const approvals = await allOf(store, world)
  for (const each of approvals) ledger.looked(each)
  ledger.checkAllIn(new Set(approvals.map(({ id }) => id)))
  const effects = effectsOf(world)
  const calls = new Map(callers.flatMap((caller) => caller.calls.map((call): [string, AskedCall] => [call.name, call])))
  const facts = { approvals, effects, kills, isInGateway }
  checkEffects(facts, problem)
  checkReturned(facts, problem)
  checkDoubled(approvals, problem)
  checkUnknown(facts, calls, problem)
  checkHeard(calls, facts, problem)
  tally.count('calls', calls.size)
  tally.count('effects', effects.length)
  const done = new Set(effects.map(({ call }) => call))
  for (const approval of approvals) {
    tally.count(`approvals: ${approval.status}`)
    // Its caller cancelled, or its mount was killed, before it was answered. Another approval of the same call may have been sent.
    const isSent = approval.dispatchedAt !== undefined && approval.status !== 'returned'
    if (isSent && done.has(sentAs(approval))) tally.count(`approvals: ${approval.status}, with an effect`)
  }
  const times = Map.groupBy(approvals, ({ asked }) => asked)
  for (const { name, tries, heard } of calls.values())
    if (tries > 1 && heard?.kind !== 'nothing' && times.get(name)?.length === 1)
      tally.count('calls that found their approval again')
}

async function allOf({ approvals }: Pick<Store, 'approvals'>, { agents }: AgentsWorld): Promise<readonly KeptApproval[]> {
  const found: KeptApproval[] = []
  for (const { id: agentId } of agents) {
    let page = await approvals.list({ agentId, limit: PAGE })
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      found.push(...page.map(keptOfRecord))
      page = await approvals.list({ agentId, limit: PAGE, beforeCreatedAt: last.createdAt, beforeId: last.id })
    }
  }
  return found
}

/** What all mounts have done so far, each with the host that had it run. */
function effectsOf({ agents }: AgentsWorld): readonly Effect[] {
  return agents.flatMap((agent) => {
    const lines = agent.lines()
    const hosts = new Map(lines.flatMap((line) => (line.step === 'start' ? [[line.mount, line.host] as const] : [])))
    const hostOf = (mount: string): number => Number(/^host-(\d+)/.exec(hosts.get(mount) ?? '')?.[1])
    return lines.flatMap(({ step, mount, at, ...line }) =>
      step === 'effect' && 'call' in line ? [{ call: line.call, at, host: hostOf(mount) }] : [],
    )
  })
}
