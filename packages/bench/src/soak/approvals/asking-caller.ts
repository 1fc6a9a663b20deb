import { setTimeout as wait } from 'node:timers/promises'
import { RPC_CODES, messageOf } from '@parley/protocol'
import type { Tally } from '../../soak.ts'
import type { AgentsWorld, SoakAgent } from '../agents/agents-world.ts'
import { type Way, answeredCode, openWay } from '../agents/way.ts'
import { SeededRandom } from '../random.ts'

/** Longer than a person has. */
const CALL_MS = 90_000
const TRIES = 60
const RETRY_MS = 150
const PAUSE_MS = { least: 5, most: 200 }
const MEDDLE_MS = 1_500
const KNOWN_MS = 30_000
const UNATTENDED_MS = 60_000
const POLL_MS = 40
/** So many calls of a mount take their time, before their effect and after it: most kills fall there. */
const SLOW_PART = 0.4
const SLOW_MS = 1_200

/** What whoever called does besides waiting. `cuts`: goes away without a word and comes back. */
const MOODS = ['waits', 'waits', 'waits', 'waits', 'waits', 'waits', 'waits', 'cuts', 'cuts', 'cancels'] as const
type Mood = (typeof MOODS)[number]

/** What a caller was told in the end. */
export type Heard =
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'denied'; readonly isAbort: boolean; readonly message: string }
  | { readonly kind: 'expired' | 'sent already' | 'cancelled' | 'nothing' }

/** One call, however often it was made. */
export interface AskedCall {
  readonly name: string
  tries: number
  heard: Heard | undefined
  heardAt: number | undefined
}

export interface CallerPorts {
  readonly world: AgentsWorld
  readonly agent: SoakAgent
  readonly tally: Tally
  readonly problem: (text: string, call: string) => void
  /** Whether people have been asked about this call. */
  readonly isKnown: (call: string) => boolean
  /** Whether somebody still seems to wait for it. Throws where no gateway says so. */
  readonly isAttended: (call: string) => Promise<boolean>
}

/**
 * Somebody who calls an agent's tool again and again, each call under a name of its own, and waits for what people say. Who was cut off makes
 * the very same call again, through any gateway.
 */
export class AskingCaller {
  readonly calls: AskedCall[] = []
  readonly #ports: CallerPorts
  readonly #name: string
  readonly #random: SeededRandom
  #isStopped = false
  #running: Promise<void> = Promise.resolve()
  #way: Way | undefined
  /** When the last call that has ended had begun. */
  endedBegan = -1
  lastError = ''

  constructor(ports: CallerPorts, name: string, seed: number) {
    this.#ports = ports
    this.#name = name
    this.#random = new SeededRandom(seed)
  }

  get agent(): SoakAgent {
    return this.#ports.agent
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Settles when the call that is under way has its end. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
    await this.#hangUp()
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const began = performance.now()
      const call: AskedCall = { name: `${this.#name}-${this.calls.length + 1}`, tries: 0, heard: undefined, heardAt: undefined }
      this.calls.push(call)
      call.heard = await this.#untilHeard(call)
      call.heardAt = Date.now()
      this.endedBegan = began
      this.#ports.tally.count(`heard: ${call.heard.kind}`)
      await wait(this.#random.between(PAUSE_MS.least, PAUSE_MS.most))
    }
  }

  async #untilHeard(call: AskedCall): Promise<Heard> {
    const random = this.#random
    const isSlow = random.next() < SLOW_PART
    const slow = { before_ms: random.between(0, SLOW_MS), after_ms: random.between(0, SLOW_MS) }
    const args = { call: call.name, ...(isSlow ? slow : {}) }
    let mood: Mood = random.pick(MOODS)
    for (let tried = 0; tried < TRIES; tried += 1) {
      const way = await this.#open()
      const heard = way === undefined ? undefined : await this.#once(way, call, args, mood)
      if (heard !== undefined) return heard
      // Whoever cut itself off once waits from then on.
      if (way !== undefined) mood = 'waits'
      await wait(RETRY_MS)
    }
    this.#ports.problem(`${call.name} heard nothing in ${TRIES} tries: ${this.lastError}`, call.name)
    return { kind: 'nothing' }
  }

  async #open(): Promise<Way | undefined> {
    const { world, agent, problem } = this.#ports
    try {
      this.#way ??= await openWay(world, agent, this.#random, (id) =>
        problem(`request ${id} of ${this.#name} was answered twice`, this.#name),
      )
      return this.#way
    } catch (error) {
      this.lastError = `not let in: ${messageOf(error)}`
      return undefined
    }
  }

  async #hangUp(): Promise<void> {
    const way = this.#way
    this.#way = undefined
    await way?.close().catch(() => undefined)
  }

  /** `undefined`: it was cut off, or told to ask again. */
  async #once(way: Way, call: AskedCall, args: Parameters<Way['call']>[0], mood: Mood): Promise<Heard | undefined> {
    const { tally, problem } = this.#ports
    call.tries += 1
    if (call.tries > 1) tally.count('calls made again')
    const over = new AbortController()
    const cancel = new AbortController()
    const meddling = mood === 'waits' ? undefined : this.#meddle(call.name, mood, cancel, over.signal)
    try {
      const { content, isError } = await way.call(args, { timeoutMs: CALL_MS, signal: cancel.signal })
      if (isError !== true) return { kind: 'result', text: JSON.stringify(content) }
      this.lastError = JSON.stringify(content)
      tally.count('answers that say that the mount failed')
      return undefined
    } catch (error) {
      if (cancel.signal.aborted) return { kind: 'cancelled' }
      this.lastError = messageOf(error)
      const code = answeredCode(error)
      if (code !== undefined) return this.#answered(code, this.lastError)
      await this.#hangUp()
      tally.count('calls cut off')
      return undefined
    } finally {
      over.abort()
      await meddling
      if (mood === 'cuts') await this.#untilUnattended(call.name).catch((error: unknown) => problem(messageOf(error), call.name))
    }
  }

  #answered(code: number, message: string): Heard | undefined {
    const isDenied = code === RPC_CODES.policy_denied || code === RPC_CODES.policy_denied_continue
    if (isDenied && message.includes(' said no')) return { kind: 'denied', isAbort: code === RPC_CODES.policy_denied, message }
    if (isDenied && message.includes('sent already')) return { kind: 'sent already' }
    if (code === RPC_CODES.approval_expired) return { kind: 'expired' }
    this.#ports.tally.count(`errors: ${code} ${message.replaceAll(/[a-z]+_\w+|\d+/g, '…').slice(0, 70)}`)
    return undefined
  }

  /** Once people are asked: hangs up, or cancels. */
  async #meddle(call: string, mood: Exclude<Mood, 'waits'>, cancel: AbortController, over: AbortSignal): Promise<void> {
    const afterMs = this.#random.between(0, MEDDLE_MS)
    const until = performance.now() + KNOWN_MS
    while (!this.#ports.isKnown(call) && !over.aborted && performance.now() < until) await wait(POLL_MS)
    await wait(afterMs, undefined, { signal: over }).catch(() => undefined)
    if (over.aborted || !this.#ports.isKnown(call)) return
    this.#ports.tally.count(mood === 'cuts' ? 'callers that cut themselves off' : 'callers that cancelled')
    if (mood === 'cuts') await this.#hangUp()
    else cancel.abort()
  }

  /** Who calls again at once may come before anybody knows that the first call is gone: that would be a second call beside it. */
  async #untilUnattended(call: string): Promise<void> {
    const until = performance.now() + UNATTENDED_MS
    while (await this.#ports.isAttended(call).catch(() => true)) {
      if (performance.now() > until)
        throw new Error(`${call} counts as waited for ${UNATTENDED_MS} ms after its caller went away`)
      await wait(POLL_MS)
    }
  }
}
