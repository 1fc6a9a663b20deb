import type { NewsKind, RestRecord, WakeOn, WakeRules } from '@parley/protocol'

/** What nobody was woken by yet, by kind. */
export interface Unwoken {
  readonly kind: NewsKind
  readonly subject: string
}

/** `later`: at that time it may be woken by what there is now. */
export type WakeDecision =
  | { readonly kind: 'wake'; readonly by: NewsKind }
  | { readonly kind: 'later'; readonly at: number }
  | { readonly kind: 'rest' }

/** Whether what there is wakes an agent that takes no turn. A timer of its own always does. */
export function decideWake(
  unwoken: readonly Unwoken[],
  { rules, rest, wokenAt, now }: WakeState & { readonly now: number },
): WakeDecision {
  const may = (on: WakeOn): boolean => rules[on] && (rest?.wake_on?.includes(on) ?? true)
  const has = (kind: NewsKind): boolean => unwoken.some((news) => news.kind === kind)
  if (has('timer')) return { kind: 'wake', by: 'timer' }
  if (may('chat') && has('chat')) return { kind: 'wake', by: 'chat' }
  if (may('calls') && has('call')) return { kind: 'wake', by: 'call' }
  const isWatched = ({ kind, subject }: Unwoken): boolean => kind === 'resource' && (rest?.resources?.includes(subject) ?? true)
  if (!may('resources') || !unwoken.some(isWatched)) return { kind: 'rest' }
  const at = wokenAt === null ? now : wokenAt + rules.every_s * 1_000
  return at <= now ? { kind: 'wake', by: 'resource' } : { kind: 'later', at }
}

export interface WakeState {
  readonly rules: WakeRules
  readonly rest: RestRecord | undefined
  /** When a resource woke it last. */
  readonly wokenAt: number | null
}
