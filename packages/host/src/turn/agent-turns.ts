import type { Compositor, EngineEvent, NewsInput, Turn } from '@parley/agent'
import {
  iso,
  messageOf,
  type PreparedModel,
  type PromptOutcome,
  settlesWithin,
  type ToolOutput,
  unlessAborted,
} from '@parley/protocol'
import type { CallLog } from '../call-log.ts'
import type { AgentGate } from '../ask/agent-gate.ts'
import type { AgentOfGateway } from '../gateway-calls.ts'
import { maskTexts, secretsOf } from '../mount/masked-secrets.ts'
import type { AgentEngine } from './agent-engine.ts'
import type { AgentLoop } from './agent-loop.ts'
import { AgentTranscript, isFull, MEMORY_SECRET_CHARS } from './agent-transcript.ts'
import type { EngineCalls } from './engine-calls.ts'
import { BEGINS, eventLine } from './event-line.ts'
import { BROKEN, DONE, failedWith, INTERRUPTED, isLost, outcomeOf, unprepared } from './outcome.ts'
import { OwnCalls } from './own-calls.ts'
import { prepareTurn } from './prepare-turn.ts'
import type { LeftTurn } from './transcript-fold.ts'
import { EngineUnfit, TurnEngine } from './turn-engine.ts'
import { TURN_LIMITS, type TurnLimits } from './turn-limits.ts'
import type { TurnPorts } from './turn-ports.ts'
import type { AgentSpec } from './turn-settings.ts'
import { textOf, turnInput } from './turn-input.ts'
import { takenOverText } from './turn-text.ts'

export interface AgentTurnsOptions extends AgentOfGateway {
  readonly ports: TurnPorts
  /** As the gateway has the agent now. */
  readonly spec: () => AgentSpec
  readonly compositor: Compositor
  readonly calls: CallLog
  readonly gate: AgentGate
  readonly engineCalls: EngineCalls
  readonly loop: AgentLoop
  readonly version: string
  readonly now: () => number
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** Nothing runs or waits any more. */
  readonly idle: () => void
  /** It cannot go on here. */
  readonly failed: (why: string) => void
}

type NextPrompt = NonNullable<ToolOutput<'host.next_prompt'>['prompt']>

/** Answers what a local agent is told, one prompt after the other, in the one conversation that it has. */
export class AgentTurns {
  readonly #options: AgentTurnsOptions
  readonly #limits: TurnLimits
  readonly #transcript: AgentTranscript
  readonly #engine: TurnEngine
  readonly #own: OwnCalls
  readonly #closing = new AbortController()
  /** Fires when the agent is let go of. */
  readonly #ended: AbortSignal
  #running: Promise<void> | undefined
  #isWanted = false
  #current: { readonly promptId: string; readonly stop: AbortController } | undefined
  #key = ''

  constructor(options: AgentTurnsOptions) {
    this.#options = options
    const { ports, claim, call, signal, spec, compositor, calls, now, version } = options
    this.#limits = { ...TURN_LIMITS, ...ports.limits }
    this.#ended = AbortSignal.any([signal, this.#closing.signal])
    this.#transcript = new AgentTranscript({
      claim,
      call,
      signal,
      offset: spec().transcript_offset,
      limits: this.#limits,
      maskShown: (text) => maskTexts(this.#secrets())(text),
      maskMemory: (text) => maskTexts(this.#secrets(), { shortest: MEMORY_SECRET_CHARS })(text),
      lost: options.failed,
    })
    this.#own = new OwnCalls({ gate: options.gate, engineCalls: options.engineCalls, calls, now })
    this.#engine = new TurnEngine({
      ports,
      limits: this.#limits,
      claim,
      spec,
      compositor,
      transcript: this.#transcript,
      gate: this.#own,
      mayRun: (program) => options.gate.wouldAllow({ kind: 'command', name: program, arguments: {} }),
      news: options.loop.source((news) => this.#tell(news)),
      isOver: () => options.loop.isOver,
      listener: { event: (event) => this.#heard(event), approve: () => Promise.resolve('denied') },
      warn: (message) => this.#transcript.say({ type: 'warning', at: this.#at(), message }),
      version,
    })
  }

  /** Whether a prompt runs or may wait. */
  get isBusy(): boolean {
    return this.#running !== undefined
  }

  /** Whether its engine asks its model itself, and goes on after the agent has ended its turn. */
  get goesOn(): boolean {
    return this.#engine.isBoxed
  }

  /** It was told something. */
  wake(): void {
    if (this.#ended.aborted) return
    this.#isWanted = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWanted) this.wake()
      else this.#options.idle()
    })
  }

  /** Somebody wants the turn to end: the gateway says whether it is still this one. */
  async abort(): Promise<void> {
    const current = this.#current
    if (current === undefined) return this.wake()
    const { call, claim, log } = this.#options
    try {
      const { prompt } = await call('host.next_prompt', claim, this.#ended)
      if (prompt?.prompt_id === current.promptId && prompt.aborting) current.stop.abort()
    } catch (error) {
      if (!this.#ended.aborted) log('warn', `whether its turn is to end cannot be asked: ${messageOf(error)}`)
    }
  }

  /** Interrupts, and leaves the prompt to the next host. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#engine.end()
    await settlesWithin(this.#running ?? Promise.resolve(), this.#limits.interruptMs)
    await settlesWithin(this.#transcript.flush(), this.#limits.interruptMs)
  }

  async #run(): Promise<void> {
    const { call, claim, failed } = this.#options
    try {
      while (this.#isWanted && !this.#ended.aborted) {
        this.#isWanted = false
        for (;;) {
          const { prompt } = await call('host.next_prompt', claim, this.#ended)
          if (prompt === null) break
          await this.#answer(prompt)
          this.#ended.throwIfAborted()
        }
      }
    } catch (error) {
      this.#isWanted = false
      if (!this.#ended.aborted) failed(`its turns cannot go on: ${messageOf(error)}`)
    }
  }

  async #answer(prompt: NextPrompt): Promise<void> {
    const stop = new AbortController()
    this.#current = { promptId: prompt.prompt_id, stop }
    this.#options.loop.begins(prompt.prompt_id)
    try {
      const { outcome, isTold = false } = await this.#outcome(prompt, AbortSignal.any([stop.signal, this.#ended]))
      if (this.#ended.aborted) return
      if (BROKEN.has(outcome.code)) await this.#engine.close()
      // Its key ends with the wish to end it, which may be felt here before it is heard of.
      if (outcome.status === 'failed' && !isTold) await this.abort()
      await this.#end(prompt, stop.signal.aborted ? INTERRUPTED : outcome, isTold)
    } finally {
      this.#current = undefined
      this.#options.gate.turnEnds()
      this.#options.loop.ends()
    }
  }

  /** How the turn ended. After the agent was let go of nobody asks. */
  async #outcome(prompt: NextPrompt, stop: AbortSignal): Promise<{ readonly outcome: PromptOutcome; readonly isTold?: boolean }> {
    try {
      if (prompt.aborting) return { outcome: INTERRUPTED }
      const left: LeftTurn = prompt.resumed ? (await this.#transcript.standing()).left(prompt.prompt_id) : { kind: 'unsaid' }
      if (left.kind === 'ended') return left
      // The host before died between that and the end.
      if (prompt.yielded) return { outcome: DONE }
      const outcome = await this.#turn(prompt, left.kind, stop)
      return { outcome: this.#transcript.failure === undefined ? outcome : this.#full() }
    } catch (error) {
      if (stop.aborted) return { outcome: INTERRUPTED }
      if (isLost(error)) throw error
      if (this.#transcript.failure !== undefined) return { outcome: this.#full() }
      return { outcome: failedWith(error instanceof EngineUnfit ? error.code : 'internal', messageOf(error)) }
    }
  }

  /** One turn to its end. */
  async #turn(prompt: NextPrompt, left: 'unsaid' | 'said', stop: AbortSignal): Promise<PromptOutcome> {
    const news = await unlessAborted(this.#options.loop.take(), stop)
    // What woke it was told by an earlier turn: there is nothing to ask the model.
    if (prompt.woken_by !== null && left === 'unsaid' && news === undefined) return DONE
    const prepared = await prepareTurn({ ...this.#options, prepareMs: this.#limits.prepareMs }, prompt.prompt_id, stop).catch(
      (error: unknown) => {
        if (stop.aborted || isLost(error)) throw error
        return unprepared(error)
      },
    )
    if ('status' in prepared) return prepared
    this.#key = prepared.api_key
    const settings = await this.#engine.settings(prepared, stop)
    this.#transcript.say({
      type: 'turn_started',
      at: this.#at(),
      prompt_id: prompt.prompt_id,
      number: prompt.number,
      by: prompt.by,
      text: prompt.text,
      woken_by: prompt.woken_by,
      engine: settings.engine,
      model: prepared.model,
      resumed: prompt.resumed,
    })
    await this.#transcript.flush()
    this.#options.gate.turnBegins((line) => this.#transcript.say(line))
    const engine = await this.#engine.ready(settings, prepared, stop)
    const { budget } = prepared
    const isLeft = left === 'said' && !engine.isNew
    const takenUp = isLeft ? engine.conversation.takeUp?.({ budget }) : undefined
    if (takenUp !== undefined) return this.#ending(takenUp, engine, { prepared, stop })
    const before = engine.isNew ? await this.#before(prompt, left) : ''
    const said = turnInput(prompt, { news, before, isLeft })
    if (news !== undefined) this.#tell(news)
    return this.#ending(engine.conversation.submit({ ...said, budget }), engine, { prepared, stop })
  }

  /** A conversation that begins in the middle is told what was said before. */
  async #before({ prompt_id, woken_by }: NextPrompt, left: 'unsaid' | 'said'): Promise<string> {
    // What woke this turn was told by itself.
    const until = woken_by !== null && left === 'said' ? '' : prompt_id
    const talk = (await this.#transcript.standing()).talkBefore(until)
    return talk === '' ? '' : takenOverText(talk)
  }

  /** It stands in the transcript when the engine has written down that it was told. */
  #tell({ input }: NewsInput): void {
    this.#transcript.hold({ type: 'notice', at: this.#at(), text: input.map(textOf).join('\n') })
  }

  async #ending(
    turn: Turn,
    { conversation }: AgentEngine,
    { prepared, stop }: { readonly prepared: PreparedModel; readonly stop: AbortSignal },
  ): Promise<PromptOutcome> {
    const { turnMs, graceMs, interruptMs } = this.#limits
    const limitMs = Math.min(prepared.budget.wall_ms ?? turnMs, turnMs)
    const late = AbortSignal.timeout(limitMs + graceMs)
    const denied = new AbortController()
    const { engineCalls } = this.#options
    engineCalls.endTurn = (reason) => denied.abort(reason)
    try {
      return outcomeOf(await unlessAborted(turn.ended, AbortSignal.any([stop, late, denied.signal])))
    } catch {
      if (!this.#ended.aborted && !(await settlesWithin(conversation.interrupt(), interruptMs))) await this.#engine.close()
      if (stop.aborted) return INTERRUPTED
      if (denied.signal.aborted) return failedWith('denied', String(denied.signal.reason))
      return failedWith('budget_time', `the turn has used its ${limitMs} ms`)
    } finally {
      engineCalls.endTurn = undefined
    }
  }

  async #end({ prompt_id }: NextPrompt, outcome: PromptOutcome, isTold: boolean): Promise<void> {
    const { call, claim } = this.#options
    if (!isTold) this.#transcript.say({ type: 'turn_ended', at: this.#at(), prompt_id, ...outcome })
    // One that is full says so by its outcome.
    await this.#transcript.flush().catch((error: unknown) => {
      if (this.#transcript.failure === undefined || !isFull(this.#transcript.failure)) throw error
    })
    await call('host.end_prompt', { ...claim, prompt_id, outcome }, this.#ended)
  }

  #full(): PromptOutcome {
    return failedWith('transcript_full', this.#transcript.failure?.message ?? '')
  }

  /** An engine that writes down what it did only at the end of a turn has its lines shown before. */
  #heard(event: EngineEvent): void {
    this.#own.heard(event)
    const line = eventLine(event, this.#at(), (tool) => this.#engine.originOf(tool))
    if (line === undefined) return
    if (BEGINS.has(line.type) || this.#engine.isBoxed) this.#transcript.say(line)
    else this.#transcript.hold(line)
  }

  #secrets(): readonly string[] {
    return [this.#key, ...this.#options.spec().mounts.flatMap(secretsOf)]
  }

  #at(): string {
    return iso(this.#options.now())
  }
}
