import { ADDS, READS, tool } from '@parley/protocol'
import { type ServedTool, type World, serveTool } from '@parley/gateway'
import * as z from 'zod'

/** The same tool that every peer in the benchmark serves. */
export const echo = serveTool(
  tool({
    name: 'echo',
    roles: ['user', 'judge'],
    doc: 'Answers its text.',
    input: z.strictObject({ text: z.string() }),
    output: z.object({ text: z.string() }),
    annotations: READS,
  }),
  ({ text }) => ({ text }),
)

const LOG_NAME = z.string().regex(/^[a-z0-9-]{1,64}$/)

/** Appends to a log of the store at the offset where the writer believes it ends: what the kill soak loads the gateway with. */
export const logAppend = serveTool(
  tool({
    name: 'log.append',
    roles: ['user', 'judge'],
    doc: 'Appends one entry to a log at an offset.',
    input: z.strictObject({ log: LOG_NAME, offset: z.int().min(0), data: z.string().min(1).max(65_536) }),
    output: z.object({ kind: z.string(), offset: z.int(), seq: z.int() }),
    annotations: ADDS,
  }),
  async ({ log, offset, data }, { world }) => {
    const outcome = await world.store.logs.append(`soak/${log}`, [new TextEncoder().encode(data)], { at: { offset } })
    return { kind: outcome.kind, offset: outcome.offset, seq: outcome.seq }
  },
  { audit: 'soon' },
)

const READ_BYTES = 256 * 1024

/** Reads a log back, one page at a time. */
export const logRead = serveTool(
  tool({
    name: 'log.read',
    roles: ['user', 'judge'],
    doc: 'Reads a page of a log.',
    input: z.strictObject({ log: LOG_NAME, seq: z.int().min(0) }),
    output: z.object({ entries: z.array(z.string()), next: z.int(), offset: z.int() }),
    annotations: READS,
  }),
  async ({ log, seq }, { world }) => {
    const page = await world.store.logs.read(`soak/${log}`, { from: { seq }, maxBytes: READ_BYTES })
    return {
      entries: page.entries.map((entry) => new TextDecoder().decode(entry.bytes)),
      next: page.next.seq,
      offset: page.next.offset,
    }
  },
)

/** Tells every subscriber of the caller's own account that it changed, so that a soak can see who hears of it. */
export const accountTouch = serveTool(
  tool({
    name: 'account.touch',
    roles: ['user'],
    doc: 'Publishes a change of your account.',
    input: z.strictObject({}),
    output: z.object({}),
    annotations: ADDS,
  }),
  async (_input, { caller, world }) => {
    if (caller.userId !== null) await world.store.topics.publish(`user/${caller.userId}`)
    return {}
  },
  { audit: 'soon' },
)

/** What the process holds after everything that could be collected was. Needs `--expose-gc`. */
export function memoryTool(counts: () => { readonly sessions: number; readonly subscriptions: number }): ServedTool<World> {
  return serveTool(
    tool({
      name: 'soak.memory',
      roles: ['user', 'judge'],
      doc: 'Collects garbage and says what is left.',
      input: z.strictObject({}),
      output: z.object({ heap_bytes: z.int(), rss_bytes: z.int(), sessions: z.int(), subscriptions: z.int() }),
      annotations: READS,
    }),
    async () => {
      await collectGarbage()
      const { heapUsed, rss } = process.memoryUsage()
      return { heap_bytes: heapUsed, rss_bytes: rss, ...counts() }
    },
  )
}

/** Lets time pass in the gateway alone, so that a soak need not be faster than a limit that it wants to see reached. */
export function passTool(pass: (ms: number) => void): ServedTool<World> {
  return serveTool(
    tool({
      name: 'soak.pass',
      roles: ['user'],
      doc: 'Sets the clock of the gateway forward.',
      input: z.strictObject({ ms: z.int().min(1) }),
      output: z.object({}),
      annotations: ADDS,
    }),
    ({ ms }) => {
      pass(ms)
      return {}
    },
    { audit: 'soon' },
  )
}

const COLLECTIONS = 4
const BETWEEN_MS = 50

/** Several times with pauses: what finalizers and closing sockets let go of is only collected by the next one. */
async function collectGarbage(): Promise<void> {
  if (globalThis.gc === undefined) throw new Error('start with --expose-gc')
  for (let round = 0; round < COLLECTIONS; round += 1) {
    globalThis.gc()
    await new Promise((done) => setTimeout(done, BETWEEN_MS))
  }
}
