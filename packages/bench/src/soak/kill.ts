import { setTimeout as wait } from 'node:timers/promises'
import { startPostgres } from '@parley/store/testing'
import * as z from 'zod'
import { openOwnGateway, type OwnGateway } from '../own/open-gateway.ts'
import { keepAlive } from './http-post.ts'
import { callTool } from './modern-call.ts'
import { SeededRandom } from './random.ts'
import type { Soak, SoakOptions, SoakResult } from '../soak.ts'
import { Tally } from '../soak.ts'

const KILLS = 50
const WRITERS = 4
const LONGEST_LIFE_MS = 400
const LARGEST_ENTRY_CHARS = 2_000

const Appended = z.object({ kind: z.string(), offset: z.number(), seq: z.number() })
const Page = z.object({ entries: z.array(z.string()), next: z.number(), offset: z.number() })

/** `kill -9` of the gateway under a load of appends: what was acknowledged is there, once, in order. */
export const killSoak: Soak = {
  name: 'kill',
  summary: 'kill -9 of the gateway at random moments of a load of appends, on both engines',
  needs: { programs: [], peers: [] },
  run: async (options) => {
    const tally = new Tally()
    await onEngine('sqlite', undefined, options, tally)
    const postgres = await startPostgres()
    try {
      await onEngine('postgres', postgres.url, options, tally)
    } finally {
      await postgres.stop()
    }
    return tally.result()
  },
}

/** The same on one engine, for tests that take them one at a time. */
export async function killOnEngine(
  engine: 'sqlite' | 'postgres',
  database: string | undefined,
  options: SoakOptions,
): Promise<SoakResult> {
  const tally = new Tally()
  await onEngine(engine, database, options, tally)
  return tally.result()
}

async function onEngine(engine: string, database: string | undefined, options: SoakOptions, tally: Tally): Promise<void> {
  const random = new SeededRandom(options.seed)
  const kills = Math.max(2, Math.round(KILLS * options.share))
  await using gateway = await openOwnGateway(database === undefined ? {} : { database })
  const writers = Array.from(
    { length: WRITERS },
    (_, index) => new Writer(`w${index}`, new SeededRandom(options.seed + index + 1)),
  )
  for (let kill = 1; kill <= kills; kill += 1) {
    const loads = writers.map((writer) => writer.write(gateway, tally, engine))
    await wait(random.between(1, LONGEST_LIFE_MS))
    gateway.program.kill('SIGKILL')
    tally.count(`${engine} kills`)
    await gateway.program.ended()
    await Promise.all(loads)
    await gateway.restart()
    for (const writer of writers) await writer.resend(gateway, tally, engine)
    options.log(
      `${engine}: kill ${kill} of ${kills}, ${writers.reduce((sum, writer) => sum + writer.acknowledged.length, 0)} acknowledged`,
    )
  }
  for (const writer of writers) await writer.verify(gateway, tally, engine)
}

/** Writes one log, one entry at a time, and knows what was acknowledged to it. */
class Writer {
  readonly acknowledged: string[] = []
  readonly #log: string
  readonly #random: SeededRandom
  readonly #agent = keepAlive(1)
  #offset = 0
  /** Sent, and no answer came: it may be there or not, but after a resend it must be there once. */
  #unanswered: string | undefined

  constructor(log: string, random: SeededRandom) {
    this.#log = log
    this.#random = random
  }

  /** Until the gateway goes away. */
  async write(gateway: OwnGateway, tally: Tally, engine: string): Promise<void> {
    for (;;) {
      const text = `${this.#log} ${this.acknowledged.length} ${this.#random.bytes(this.#random.between(1, LARGEST_ENTRY_CHARS / 2)).toString('hex')}`
      this.#unanswered = text
      try {
        await this.#append(gateway, text, tally, engine)
      } catch {
        tally.count(`${engine} unanswered`)
        return
      }
    }
  }

  async resend(gateway: OwnGateway, tally: Tally, engine: string): Promise<void> {
    const text = this.#unanswered
    if (text !== undefined) tally.count(`${engine} resent as ${await this.#append(gateway, text, tally, engine)}`)
  }

  async #append(gateway: OwnGateway, data: string, tally: Tally, engine: string): Promise<string> {
    const outcome = Appended.parse(
      await callTool(this.#agent, gateway.mcp, gateway.token, 'log.append', { log: this.#log, offset: this.#offset, data }),
    )
    const end = this.#offset + Buffer.byteLength(data)
    const taken = (outcome.kind === 'appended' || outcome.kind === 'repeated') && outcome.offset === end
    tally.expect(taken, `${engine} ${this.#log}: an append at ${this.#offset} to ${end} answered ${JSON.stringify(outcome)}`)
    this.#offset = outcome.offset
    this.acknowledged.push(data)
    this.#unanswered = undefined
    tally.count(`${engine} acknowledged`)
    return outcome.kind
  }

  async verify(gateway: OwnGateway, tally: Tally, engine: string): Promise<void> {
    const found: string[] = []
    for (let seq = 0; ;) {
      const page = Page.parse(await callTool(this.#agent, gateway.mcp, gateway.token, 'log.read', { log: this.#log, seq }))
      if (page.entries.length === 0) break
      found.push(...page.entries)
      seq = page.next
    }
    this.#agent.destroy()
    tally.count(`${engine} found`, found.length)
    const first = this.acknowledged.findIndex((text, index) => found[index] !== text)
    tally.expect(first === -1, `${engine} ${this.#log}: acknowledged entry ${first} is not where it should be`)
    tally.expect(
      found.length === this.acknowledged.length,
      `${engine} ${this.#log}: ${this.acknowledged.length} acknowledged, ${found.length} found`,
    )
  }
}
