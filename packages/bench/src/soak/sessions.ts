import type { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { openOwnGateway, type OwnGateway } from '../own/open-gateway.ts'
import { HANG_MS, keepAlive } from './http-post.ts'
import { type Memory, memoryOf } from './memory.ts'
import { callTool } from './modern-call.ts'
import { SeededRandom } from './random.ts'
import type { Soak } from '../soak.ts'
import { Tally } from '../soak.ts'
import { openSubscriber, type Subscriber, SUBSCRIBER_KINDS } from './subscriber.ts'

const SESSIONS = 10_000
const WARM_SESSIONS = 1_000
/** Fewer would measure how the code warms up, not what sessions leave behind. */
const LEAST_WARM_SESSIONS = 250
const WAVE = 250
const CONNECTIONS = 32
/** Abandoned sessions that may lie around before the next wave: a fast machine must not compare one peak with a higher one. */
const LYING_AROUND = 200
const POLL_MS = 100
const HEAP_GROWTH = 1.05
const RSS_GROWTH = 1.2
const CHANGES = 200
/** Longer than opening a session takes on the most crowded machine: only the gateway's own clock brings it about. */
const IDLE_MS = 60_000
/** How long calls may take before they become streams is also how often the gateway looks for idle sessions. */
const LIMITS = { sessionIdleMs: IDLE_MS, streamBufferBytes: 64 * 1024, streamAfterMs: 250 }

/** Thousands of sessions that subscribe and go, politely or not: nothing of them is left, and nobody waits for a stuck one. */
export const sessionsSoak: Soak = {
  name: 'sessions',
  summary: '10,000 subscribed sessions opened and dropped in waves; a stuck subscriber delays no other',
  needs: { programs: [], peers: [] },
  run: async ({ seed, share, log }) => {
    const tally = new Tally()
    const random = new SeededRandom(seed)
    await using gateway = await openOwnGateway({ exposeGc: true, limits: LIMITS })
    const agent = keepAlive(CONNECTIONS)
    try {
      const idle = await memoryOf(agent, gateway)
      const warm = Math.max(LEAST_WARM_SESSIONS, Math.ceil(WARM_SESSIONS * share))
      await waves(warm, gateway, agent, random, tally)
      const before = await emptied(gateway, agent, idle, tally)
      log(`after ${warm}: heap ${before.heap_bytes}, resident ${before.rss_bytes}`)
      await waves(Math.ceil(SESSIONS * share) - warm, gateway, agent, random, tally)
      const after = await emptied(gateway, agent, idle, tally)
      log(`after ${Math.ceil(SESSIONS * share)}: heap ${after.heap_bytes}, resident ${after.rss_bytes}`)
      judgeMemory(before, after, tally)
      await stuckSubscriber(gateway, agent, share, tally)
    } finally {
      agent.destroy()
    }
    return tally.result()
  },
}

function judgeMemory(before: Memory, after: Memory, tally: Tally): void {
  tally.count('heap permille of before', Math.round((after.heap_bytes / before.heap_bytes) * 1000))
  tally.count('resident permille of before', Math.round((after.rss_bytes / before.rss_bytes) * 1000))
  tally.expect(
    after.heap_bytes <= before.heap_bytes * HEAP_GROWTH,
    `the heap grew from ${before.heap_bytes} to ${after.heap_bytes}`,
  )
  tally.expect(
    after.rss_bytes <= before.rss_bytes * RSS_GROWTH,
    `the resident size grew from ${before.rss_bytes} to ${after.rss_bytes}`,
  )
}

/** Opens a wave, tells all of it of a change, and drops it; half of the waves are dropped while the change is on its way. */
async function waves(sessions: number, gateway: OwnGateway, agent: Agent, random: SeededRandom, tally: Tally): Promise<void> {
  for (let left = sessions; left > 0; left -= WAVE) {
    const kinds = Array.from({ length: Math.min(WAVE, left) }, () => random.pick(SUBSCRIBER_KINDS))
    const wave = await Promise.all(kinds.map((kind) => openSubscriber(kind, agent, gateway)))
    tally.count('sessions opened', wave.length)
    for (const kind of kinds) tally.count(kind)
    await callTool(agent, gateway.mcp, gateway.token, 'account.touch', {})
    if (random.next() < 0.5) {
      const heard = await until(() => wave.every((subscriber) => subscriber.updates() > 0))
      tally.count('waves that heard of a change')
      tally.expect(heard, `${wave.filter((subscriber) => subscriber.updates() === 0).length} of a wave never heard of a change`)
    }
    await Promise.all(wave.map((subscriber) => subscriber.drop()))
    tally.count('sessions dropped', wave.length)
    const few = await until(async () => (await memoryAfterIdle(agent, gateway)).sessions <= LYING_AROUND)
    tally.expect(few, 'abandoned sessions do not go')
  }
}

/** Abandoned sessions go when they are idle. One whose end was not noticed yet counts as in use, so time passes at each look. */
async function memoryAfterIdle(agent: Agent, gateway: OwnGateway): Promise<Memory> {
  await callTool(agent, gateway.mcp, gateway.token, 'soak.pass', { ms: IDLE_MS + 1 })
  return memoryOf(agent, gateway)
}

/** Waits until the gateway has noticed that all are gone. */
async function emptied(gateway: OwnGateway, agent: Agent, idle: Memory, tally: Tally): Promise<Memory> {
  let memory = await memoryOf(agent, gateway)
  await until(async () => {
    memory = await memoryAfterIdle(agent, gateway)
    return memory.sessions === 0 && memory.subscriptions === idle.subscriptions
  })
  tally.expect(memory.sessions === 0, `${memory.sessions} sessions are left`)
  tally.expect(memory.subscriptions === idle.subscriptions, `${memory.subscriptions - idle.subscriptions} subscriptions are left`)
  return memory
}

/** Two subscribers stop reading with their pipes full. The others hear of every change while those are still stuck. */
async function stuckSubscriber(gateway: OwnGateway, agent: Agent, share: number, tally: Tally): Promise<void> {
  const stuck = [await openSubscriber('socket torn', agent, gateway), await openSubscriber('listen torn', agent, gateway)]
  const others = await Promise.all(SUBSCRIBER_KINDS.map((kind) => openSubscriber(kind, agent, gateway)))
  for (const subscriber of stuck) subscriber.freeze()
  const frozenAt = stuck.map((subscriber) => subscriber.updates())
  const changes = Math.max(10, Math.ceil(CHANGES * share))
  for (let change = 1; change <= changes; change += 1) {
    const before = others.map((subscriber) => subscriber.updates())
    await callTool(agent, gateway.mcp, gateway.token, 'account.touch', {})
    const heard = await until(() => others.every((subscriber, index) => subscriber.updates() > (before[index] ?? 0)))
    tally.count('changes beside a stuck subscriber')
    tally.expect(heard, `change ${change} did not reach everybody beside the stuck ones`)
    if (!heard) break
  }
  tally.expect(
    stuck.every((subscriber, index) => subscriber.updates() === frozenAt[index]),
    'the stuck subscribers were not stuck',
  )
  await Promise.all([...stuck, ...others].map((subscriber: Subscriber) => subscriber.drop()))
}

async function until(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let waited = 0; waited < HANG_MS; waited += POLL_MS) {
    if (await holds()) return true
    await wait(waited === 0 ? 1 : POLL_MS)
  }
  return false
}
