import type { TurnEnd, TurnFailure } from '@parley/agent'
import type { ModelAnswer, ModelItem } from '../../model/model.ts'
import { askModel } from '../ask-model.ts'
import { type ConversationState, contextTokens } from '../conversation-state.ts'
import type { Held } from '../history.ts'
import { messageText, userItem } from '../item.ts'
import type { Stopper } from '../stopper.ts'
import { weigh } from '../weigh.ts'
import { planCompaction } from './plan.ts'
import { handedOverText } from './render.ts'

/** `ended`: the turn cannot go on. `useless`: nothing was gained, and why. */
export type Compacted =
  | { readonly kind: 'compacted' }
  | { readonly kind: 'useless'; readonly why: string }
  | { readonly kind: 'ended'; readonly end: TurnEnd }

/** Of the context, what should be left after a compaction. */
const ROOM_AFTER = 0.5
/** Of the context, what is handed over to be summed up; the second where the first was too much. */
const HANDED_OVER = [0.6, 0.25] as const
/** Fewer than a token has on average, so that what is handed over fits. */
const CHARACTERS_PER_TOKEN = 3

const INSTRUCTIONS = `You hand over a task that is under way to a successor who knows nothing of it. Sum up the conversation below for them in less than 2000 words: what was asked, what was done and found out, what was decided and why, what failed, what is still to be done. Keep names of files, paths, ids, numbers, commands and error messages exactly as they stand. Write the summary and nothing else.`

/** After these the next request would fail just the same. */
const HOPELESS: ReadonlySet<TurnFailure> = new Set([
  'model_unauthorized',
  'model_forbidden',
  'model_not_found',
  'model_rejected',
  'model_misconfigured',
  'model_quota',
  'model_overloaded',
  'model_unavailable',
  'model_unreachable',
  'model_timeout',
])

/** Puts a summary in the place of the older items. */
export async function compact(state: ConversationState, stopper: Stopper): Promise<Compacted> {
  const { history, context, limits, log, emit } = state
  const size = contextTokens(state)
  const fits = (weight: number): boolean => context.estimate(weight) <= size * ROOM_AFTER
  const replaced = planCompaction(history.held, { keptItems: limits.keptItems, fits })
  if (replaced === undefined) return { kind: 'useless', why: 'there is nothing to sum up' }
  const before = context.tokens(history.weight)
  const answer = await summarise(state, replaced, stopper)
  if (answer.kind === 'aborted') return { kind: 'ended', end: stopper.end ?? { kind: 'interrupted' } }
  if (answer.kind === 'failed') return failed(answer.code, answer.message)
  const text = summaryIn(answer.items)
  if (answer.refusal !== null || text === '') return { kind: 'useless', why: 'the model gave no summary' }
  const summary = summaryItem(text)
  const seqs = new Set(replaced.map(({ seq }) => seq))
  const weightAfter = history.weight - replaced.reduce((sum, { weight }) => sum + weight, 0)
  const after = context.estimate(weightAfter + weigh(summary))
  const seq = log.add({ type: 'compacted', summary, replaced: [...seqs], before, after })
  history.replace((held) => seqs.has(held.seq), seq, summary)
  context.compacted(history.weight)
  emit({ type: 'compacted', before, after })
  return { kind: 'compacted' }
}

function failed(code: TurnFailure, message: string): Compacted {
  if (HOPELESS.has(code)) return { kind: 'ended', end: { kind: 'failed', code, message } }
  return { kind: 'useless', why: message }
}

/** What is summed up goes out as text: parts of a conversation by themselves are nothing that a provider takes. */
async function summarise(state: ConversationState, replaced: readonly Held[], stopper: Stopper): Promise<ModelAnswer> {
  let answer: ModelAnswer = { kind: 'aborted' }
  for (const share of HANDED_OVER) {
    const characters = Math.floor(contextTokens(state) * share * CHARACTERS_PER_TOKEN)
    const items = replaced.map(({ item }) => item)
    const text = handedOverText(items, characters)
    const { model, effort } = state.options
    const request = { model, instructions: INSTRUCTIONS, tools: [], parallelToolCalls: false }
    const asked = await askModel(
      state,
      { ...request, input: [userItem([{ type: 'text', text }])], ...(effort === undefined ? {} : { effort }) },
      {
        purpose: 'compaction',
        toolsSha256: null,
        handedOver: { seqs: replaced.map(({ seq }) => seq), characters, instructions: INSTRUCTIONS },
        stopper,
      },
    )
    answer = asked.answer
    if (answer.kind === 'answered') state.log.add({ type: 'unkept', items: [...answer.items] })
    if (answer.kind !== 'failed' || answer.code !== 'context_overflow') break
  }
  return answer
}

const summaryIn = (items: readonly ModelItem[]): string =>
  items
    .filter(({ type }) => type === 'message')
    .map(messageText)
    .join('\n')
    .trim()

function summaryItem(text: string): ModelItem {
  const lines = ['<summary>', 'Older parts of this conversation were replaced by this summary of them.', text, '</summary>']
  return userItem([{ type: 'text', text: lines.join('\n') }])
}
