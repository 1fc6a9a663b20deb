import type { Approval, ApprovalAnswer } from '@parley/protocol'

/** What a key does with the call that is shown. */
export type KeyAct =
  | { readonly kind: 'decide'; readonly decision: ApprovalAnswer }
  | { readonly kind: 'next' }
  | { readonly kind: 'quit' }

interface Key {
  readonly key: string
  readonly word: string
  readonly act: KeyAct
}

const decides = (key: string, word: string, decision: ApprovalAnswer): Key => ({ key, word, act: { kind: 'decide', decision } })

const MORE: readonly Key[] = [decides('s', 'session', 'approve_session'), decides('r', 'rule', 'approve_rule')]
const NO: readonly Key[] = [decides('d', 'deny', 'deny_continue'), decides('x', 'deny and abort', 'deny_abort')]
const ALWAYS: readonly Key[] = [
  { key: 'n', word: 'next', act: { kind: 'next' } },
  { key: 'q', word: 'quit', act: { kind: 'quit' } },
]

type Asked = Pick<Approval, 'kind' | 'needed' | 'may_decide'>

/** The keys that mean something for this one. What several must approve, and a policy, are approved as they are. */
function keysFor({ kind, needed, may_decide }: Asked): readonly Key[] {
  if (!may_decide) return ALWAYS
  const more = kind === 'proposal' || needed > 1 ? [] : MORE
  return [decides('a', 'approve', 'approve'), ...more, ...NO, ...ALWAYS]
}

/** What a key means. Capital letters are taken for small ones, and anything else than one key for none. */
export const actOf = (asked: Asked, typed: string): KeyAct | undefined =>
  keysFor(asked).find(({ key }) => key === typed.toLowerCase())?.act

/** `before`: what stands before each key where it is typed as a word. */
export function keysText(asked: Asked, before = ''): string {
  const keys = keysFor(asked).map(({ key, word }) => `${before}${key} ${word}`)
  return `${asked.may_decide ? '' : 'you may not decide about it; '}${keys.join(', ')}: `
}

/** The one to be shown: the oldest that was not passed over. */
export const firstOf = (items: readonly Approval[], passed: ReadonlySet<string>): Approval | undefined =>
  items.find(({ approval_id }) => !passed.has(approval_id))
