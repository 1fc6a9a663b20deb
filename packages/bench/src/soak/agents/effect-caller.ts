import { setTimeout as wait } from 'node:timers/promises'
import { messageOf } from '@parley/protocol'
import type { Tally } from '../../soak.ts'
import type { SeededRandom } from '../random.ts'
import type { AgentsWorld, SoakAgent } from './agents-world.ts'
import { type Way, answeredCode, openWay } from './way.ts'

const CALL_MS = 30_000
const PAUSE_MS = { least: 5, most: 60 }
const RETRY_MS = 150

/** What became of a call, as far as its caller can know. */
export type CallEnd = 'success' | 'error' | 'unknown'

/**
 * Somebody who calls an agent's tool again and again, each call under a name of its own. When the connection is lost it comes back, to
 * any gateway; a call whose fate it does not know is never sent again.
 */
export class EffectCaller {
  readonly ends = new Map<string, CallEnd>()
  readonly #world: AgentsWorld
  readonly #agent: SoakAgent
  readonly #name: string
  readonly #random: SeededRandom
  readonly #tally: Tally
  readonly #ended = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #made = 0
  #succeeded = 0
  lastError = ''

  constructor(world: AgentsWorld, agent: SoakAgent, name: string, random: SeededRandom, tally: Tally) {
    this.#world = world
    this.#agent = agent
    this.#name = name
    this.#random = random
    this.#tally = tally
  }

  /** How many calls have come back well. */
  get succeeded(): number {
    return this.#succeeded
  }
  get made(): number {
    return this.#made
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const way = await this.#connect().catch((error: unknown) => this.#failed('not let in', error))
      if (way === undefined) await wait(RETRY_MS)
      else {
        await this.#use(way)
        await way.close().catch(() => undefined)
      }
    }
  }

  /** Until a call comes back whose fate is not known, or it is somebody else's turn. */
  async #use(way: Way): Promise<void> {
    const calls = this.#random.between(5, 60)
    for (let at = 0; at < calls && !this.#ended.signal.aborted; at += 1) {
      this.#made += 1
      const call = `${this.#name}-${this.#made}`
      // Before it is known how it ends, nothing is known of it.
      this.ends.set(call, 'unknown')
      const end = await this.#one(way, call)
      this.ends.set(call, end)
      this.#tally.count(`calls: ${end}`)
      if (end === 'success') this.#succeeded += 1
      else if (end === 'unknown') return
      await wait(this.#random.between(PAUSE_MS.least, PAUSE_MS.most))
    }
  }

  async #one(way: Way, call: string): Promise<CallEnd> {
    try {
      const { content, isError } = await way.call({ call }, { timeoutMs: CALL_MS })
      if (isError === true) return 'error'
      const said = JSON.stringify(content)
      this.#tally.expect(said.includes(`"done ${call}"`), `${call} was answered with ${said}`)
      return 'success'
    } catch (error) {
      this.#failed('call', error)
      return answeredCode(error) === undefined ? 'unknown' : 'error'
    }
  }

  #failed(what: string, error: unknown): undefined {
    this.lastError = `${what}: ${messageOf(error)}`
  }

  #connect(): Promise<Way> {
    this.#tally.count('connections tried')
    return openWay(this.#world, this.#agent, this.#random, (id) =>
      this.#tally.problem(`request ${id} of ${this.#name} was answered twice`),
    )
  }
}
