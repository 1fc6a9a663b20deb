import type { TokenUsage } from '@parley/protocol'
import { Counter, gauge } from './counter.ts'

/** What passes the model proxy, in numbers. No label ever holds the name of a model, a channel or a person. */
export class ModelMetrics {
  readonly #requests = new Counter('parley_model_requests_total', 'Requests that went to a model.', ['wire', 'outcome'])
  readonly #refusals = new Counter('parley_model_refusals_total', 'Requests for a model that were refused.', ['status', 'code'])
  readonly #tokens = new Counter('parley_model_tokens_total', 'Tokens booked; cached and reasoning ones are parts.', ['kind'])
  readonly #cost = new Counter('parley_model_cost_microusd_total', 'Cost booked of calls that have a price.', [])
  readonly #unpriced = new Counter('parley_model_unpriced_calls_total', 'Calls booked that have no price.', [])
  #inFlight = 0

  entered(): void {
    this.#inFlight += 1
  }
  left(): void {
    this.#inFlight -= 1
  }
  ended(wire: string, outcome: string): void {
    this.#requests.add(1, wire, outcome)
  }
  refused(status: number, code: string): void {
    this.#refusals.add(1, String(status), code)
  }
  booked(tokens: TokenUsage, costMicrousd: number | null): void {
    this.#tokens.add(tokens.input_tokens, 'input')
    this.#tokens.add(tokens.cached_input_tokens, 'cached_input')
    this.#tokens.add(tokens.output_tokens, 'output')
    this.#tokens.add(tokens.reasoning_output_tokens, 'reasoning')
    if (costMicrousd === null) this.#unpriced.add(1)
    else this.#cost.add(costMicrousd)
  }

  render(): string {
    const counters = [this.#requests, this.#refusals, this.#tokens, this.#cost, this.#unpriced]
    return [
      ...counters.map((counter) => counter.render()),
      gauge('parley_model_in_flight', 'Requests to models under way now.', this.#inFlight),
    ].join('')
  }
}
