import type { JsonObject, TokenUsage } from '@parley/protocol'
import type { ModelItem, ModelListener } from './model.ts'
import type { ModelFault } from './fault.ts'
import type { ModelLimits } from './model-limits.ts'

/** What an answer turned out to be. */
export type ReadAnswer =
  | { readonly kind: 'answered'; readonly items: readonly ModelItem[]; readonly refusal: string | null }
  | { readonly kind: 'failed'; readonly fault: ModelFault }

/** Makes sense of one answer as it comes in, and tells the listener. */
export interface AnswerReader {
  /** Takes the data of one event. True: the answer is over, nothing more is of interest. */
  event(data: string): boolean
  /** Takes a whole body, from a provider that does not stream. */
  whole(body: JsonObject): void
  /** What it is so far; `undefined`: it is not over, and if nothing more comes it was cut. */
  result(): ReadAnswer | undefined
  readonly usage: TokenUsage | undefined
  /** Whether the model has said anything yet. */
  readonly hasBegun: boolean
  /** How much it has said, for those who must guess its tokens. */
  readonly saidBytes: number
  /** Events that could not be read and were passed over. */
  readonly skipped: number
}

export interface ReaderOptions {
  readonly listener: Pick<ModelListener, 'messageDelta' | 'reasoningDelta' | 'reasoningPart'>
  readonly limits: ModelLimits
  /** Makes an id for something that the provider gave none. */
  readonly id: (prefix: string) => string
}

/** An answer that no retry makes better: it is larger than we take. */
export const tooLarge = (what: string): ReadAnswer => ({
  kind: 'failed',
  fault: { code: 'model_malformed', message: `the answer has more than ${what}`, retry: false },
})

/** An answer that makes no sense; the next one may. */
export const malformed = (message: string): ReadAnswer => ({
  kind: 'failed',
  fault: { code: 'model_malformed', message, retry: true },
})

/** The answer ended at the bound on its length. */
export const tooLong: ReadAnswer = {
  kind: 'failed',
  fault: { code: 'model_length', message: 'the answer was cut by the bound on its length', retry: false },
}

export const FILTERED = "the provider's content filter stopped the answer"
