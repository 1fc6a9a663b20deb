import type { EngineEvent } from '@parley/agent'
import {
  type Budget,
  type ModelPrices,
  NO_TOKENS,
  type TokenUsage,
  ToolError,
  type UsageTotal,
  addTokens,
  costOf,
  dollars,
  totalTokens,
} from '@parley/protocol'
import type { GeneratePorts } from '../worker/generator.ts'

type UsageEvent = Extract<EngineEvent, { type: 'usage' }>

const CALL_ID_CHARS = 128

/** Books the calls of one attempt as they are made, in order, so that a judge that dies has lost none of them. */
export class CallBook {
  readonly #ports: Pick<GeneratePorts, 'ingest'>
  readonly #attempt: number
  readonly #model: string
  readonly #prices: ModelPrices
  readonly #script: boolean
  readonly #warn: (message: string) => void
  #last: Promise<void> = Promise.resolve()
  #total: UsageTotal | undefined
  #used = NO_TOKENS
  #calls = 0
  #microusd = 0

  constructor(
    ports: Pick<GeneratePorts, 'ingest'>,
    about: {
      readonly attempt: number
      readonly model: string
      readonly prices: ModelPrices
      /** A file is played: nothing is said about money. */
      readonly script: boolean
      readonly warn: (message: string) => void
    },
  ) {
    this.#ports = ports
    this.#attempt = about.attempt
    this.#model = about.model
    this.#prices = about.prices
    this.#script = about.script
    this.#warn = about.warn
  }

  take({ call, last, estimated }: UsageEvent): void {
    this.#used = addTokens(this.#used, last)
    this.#calls += 1
    this.#microusd += costOf(last, this.#prices) ?? 0
    // It failed before the model said anything: there is nothing to book.
    if (totalTokens(last) === 0) return
    const usage = { model: this.#model, usage: last, estimated }
    this.#last = this.#last.then(async () => {
      this.#total = await this.#ports.ingest(this.#attempt, { id: call.slice(0, CALL_ID_CHARS), usage })
    })
    // The next one is booked whether or not this one was; what went wrong is said at the end.
    this.#last = this.#last.catch((error: unknown) => {
      if (error instanceof ToolError) this.#warn(`a call of the model could not be booked: ${error.message}`)
    })
  }

  /** What is left of a budget for another turn of the attempt. */
  left(budget: Budget): Budget {
    const minus = (bound: number | null, used: number): number | null => (bound === null ? null : Math.max(1, bound - used))
    return {
      requests: minus(budget.requests, this.#calls),
      tokens: minus(budget.tokens, totalTokens(this.#used)),
      microusd: minus(budget.microusd, this.#microusd),
      // The attempt has a clock of its own.
      wall_ms: budget.wall_ms,
    }
  }

  /** Settles when all are booked; answers a line about what the job has come to, if anything was booked. */
  async close(): Promise<{ readonly summary: string; readonly meta: Readonly<Record<string, unknown>> } | undefined> {
    await this.#last
    if (this.#total === undefined) return undefined
    const money = this.#script ? '' : moneyText(this.#total)
    return {
      summary: usageLine(this.#used, this.#total, money),
      meta: { phase: 'usage', attempt: this.#used, total: this.#total },
    }
  }
}

/** Tokens of the attempt, and what the whole job has come to. */
function usageLine(used: TokenUsage, total: UsageTotal, money: string): string {
  const { input_tokens, cached_input_tokens, output_tokens } = used
  const all = `the job so far: ${totalTokens(total)} tokens in ${total.calls} ${total.calls === 1 ? 'call' : 'calls'}${money}`
  return `usage: ${input_tokens} tokens in (${cached_input_tokens} cached), ${output_tokens} out; ${all}`
}

function moneyText({ unpriced_calls, cost_microusd }: UsageTotal): string {
  const unpriced = unpriced_calls > 0 ? `, ${unpriced_calls} of them without a price` : ''
  return `${unpriced}, ${cost_microusd === null ? 'unpriced' : dollars(cost_microusd)}`
}
