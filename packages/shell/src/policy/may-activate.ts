import type { PolicyReview } from '@parley/protocol'

/** How sure somebody is that what was shown is to become active. */
export interface Sureness {
  /** They said so beforehand, by `--yes`. */
  readonly saidYes: boolean
  /** There is somebody at a terminal. */
  readonly canAsk: boolean
  /** Whether it is asked also when nothing becomes looser. */
  readonly asks: 'always' | 'looser'
}

export type MayActivate =
  | { readonly kind: 'activate' }
  | { readonly kind: 'ask'; readonly question: string }
  | { readonly kind: 'refused'; readonly why: string; readonly hint: string }

/** Whether a version becomes active now. What makes an example fail never does, and what lets more through only when somebody says so. */
export function mayActivate(
  { examples, replayed }: Pick<PolicyReview, 'examples' | 'replayed'>,
  { saidYes, canAsk, asks }: Sureness,
): MayActivate {
  const failed = examples.failed.length
  if (failed > 0)
    return {
      kind: 'refused',
      why: `it is not activated: ${failed} of its examples ${failed === 1 ? 'fails' : 'fail'}`,
      hint: 'mend the rules or the examples, and set it again',
    }
  if (saidYes || (asks === 'looser' && replayed.looser === 0)) return { kind: 'activate' }
  const looser = replayed.looser === 0 ? '' : `${replayed.looser} of the calls that were made would be decided looser`
  if (canAsk) return { kind: 'ask', question: looser === '' ? 'Activate it?' : `${looser}. Activate it all the same?` }
  return {
    kind: 'refused',
    why: `it is not activated: ${looser === '' ? 'nobody has said yes to it' : looser}`,
    hint: 'give --yes if that is meant',
  }
}
