import type { LoopDesk, MountCall, MountDecision, NewsInput, NewsSource } from '@parley/agent'
import { type AgentRest, messageOf, type PromptId, ToolError, type Yield } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { AgentOfGateway } from '../gateway-calls.ts'
import { isEngine } from './engine-calls.ts'
import { noticeText } from './notice.ts'
import { isLost } from './outcome.ts'

export interface AgentLoopOptions extends AgentOfGateway {
  /** For what it rests, as the gateway had it when this host took it. */
  readonly rest: AgentRest | null
  /** Whether the engine asks its model itself, and goes on after the agent has ended its turn. */
  readonly goesOn: () => boolean
  readonly log: (level: 'info' | 'warn', message: string) => void
  /** It rests for something, or no more. */
  readonly changed: () => void
}

const TURN_OVER = 'this turn is over: loop_yield has ended it. Say your last word now'

/** What a turn is told besides its prompt, and whether the agent has ended it itself. */
export class AgentLoop implements LoopDesk {
  readonly #options: AgentLoopOptions
  #promptId: PromptId | undefined
  #isOver = false
  #rest: AgentRest | null
  /** Whether there may be something that the agent was not told. */
  #mayHaveNews = true

  constructor(options: AgentLoopOptions) {
    this.#options = options
    this.#rest = options.rest
  }

  /** For what it rests that ended its last turn itself. */
  get rest(): AgentRest | null {
    return this.#rest
  }
  /** Whether the agent has ended the turn that it takes. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** There is something to tell. */
  told(): void {
    this.#mayHaveNews = true
  }

  begins(promptId: PromptId): void {
    this.#promptId = promptId
    this.#isOver = false
    this.#rest = null
    this.#mayHaveNews = true
  }

  ends(): void {
    this.#promptId = undefined
  }

  /** What the agent was not told, as one notice. What was taken before is in the transcript by now, or it comes again. */
  async take(): Promise<NewsInput | undefined> {
    const { call, claim, signal, log } = this.#options
    this.#mayHaveNews = false
    try {
      const { items, heard } = await call('host.news', claim, signal)
      if (items.length === 0) return undefined
      // There may be more than one request is told.
      this.#mayHaveNews = true
      return { input: [{ type: 'text', text: noticeText(items) }], heard }
    } catch (error) {
      this.#mayHaveNews = true
      if (signal.aborted || isLost(error)) throw error
      log('warn', `what is new cannot be asked for: ${messageOf(error)}`)
      return undefined
    }
  }

  /** As an engine asks for it; `taken` hears what it is given. */
  source(taken: (news: NewsInput) => void): NewsSource {
    const mayHaveNews = (): boolean => this.#mayHaveNews
    return {
      get mayHaveNews() {
        return mayHaveNews()
      },
      take: async () => {
        const news = await this.take()
        if (news !== undefined) taken(news)
        return news
      },
    }
  }

  /** Written down at once: a host that dies after this leaves a turn that is over. */
  async yield(wants: Yield): Promise<{ rest: AgentRest }> {
    const { call, claim, signal, changed } = this.#options
    const promptId = this.#promptId
    if (promptId === undefined) throw new ToolError('conflict', 'the agent takes no turn now')
    const { rest } = await call('host.yield', { ...claim, prompt_id: promptId, ...wants }, signal)
    if (this.#promptId === promptId) {
      this.#isOver = true
      this.#rest = rest
      changed()
    }
    return { rest }
  }

  /** Why an engine that goes on after the end of its turn begins nothing more. */
  overFor(caller: Caller): string | undefined {
    return this.#isOver && this.#options.goesOn() && isEngine(caller) ? TURN_OVER : undefined
  }

  /** What it would do then is not done. */
  refusal({
    caller,
    unattended,
    background,
  }: Pick<MountCall<Caller>, 'caller' | 'unattended' | 'background'>): MountDecision | undefined {
    // What goes on in the background was begun before that, and is part of no turn.
    if (unattended === true || background === true) return undefined
    const reason = this.overFor(caller)
    return reason === undefined ? undefined : { kind: 'deny', reason, endsTurn: false }
  }
}
