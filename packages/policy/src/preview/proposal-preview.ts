import type { PolicyDocument, PolicyRule } from '@parley/protocol'
import { visibleLine, visibleText } from '@parley/protocol/visible'
import { hashOf } from '../call/digest.ts'
import type { Preview } from './preview.ts'

/** Another policy, the one that is active now, and what it would have changed. */
export interface ProposedPolicy {
  readonly text: string
  readonly note: string
  readonly policy: PolicyDocument
  readonly active: PolicyDocument | undefined
  readonly replayed: { readonly calls: number; readonly changed: number; readonly looser: number }
}

/**
 * A proposed policy as people are shown it: what changes, and then all of its text. Nothing is hidden and nothing left out: what somebody
 * did not see they did not approve, and a policy holds no secrets.
 */
export function proposalPreview(proposed: ProposedPolicy): Pick<Preview, 'text' | 'hash'> {
  const { text, note, replayed } = proposed
  const { calls, changed, looser } = replayed
  const lines = [
    ...(note === '' ? [] : [`Note: ${visibleLine(note)}`]),
    `Of the last ${calls} calls ${changed} would be decided otherwise, ${looser} of them looser.`,
    ...changesOf(proposed),
    '',
    `The whole text, ${text.length} characters:`,
    '',
    visibleText(text),
  ]
  const shown = lines.join('\n')
  return { text: shown, hash: hashOf(shown) }
}

/** The rules by their names, which are unique within a policy, and what stands beside them. */
function changesOf({ policy, active }: ProposedPolicy): readonly string[] {
  const [before, after] = [rulesOf(active), rulesOf(policy)]
  const [gone, added] = [
    [...before.values()].filter(({ name }) => !after.has(name)),
    [...after.values()].filter(({ name }) => !before.has(name)),
  ]
  const changed = [...after.values()].filter(({ name }) => before.has(name) && !isSame(before.get(name), after.get(name)))
  const kept = [...before.keys()].filter((name) => after.has(name))
  const isMoved = !isSame(
    kept,
    [...after.keys()].filter((name) => before.has(name)),
  )
  const beside = (['deny_unknown', 'shadow', 'approvers'] as const).filter((field) => !isSame(active?.[field], policy[field]))
  return [
    active === undefined ? 'The agent has no policy of its own now.' : `${before.size} rules now, ${after.size} then.`,
    ...added.map((rule) => `+ rule ${ruleLine(rule)}`),
    ...gone.map((rule) => `- rule ${ruleLine(rule)}`),
    ...changed.map((rule) => `~ rule ${ruleLine(rule)}, which said ${before.get(rule.name)?.decision ?? ''}`),
    ...(isMoved ? ['~ rules that stay are in another order'] : []),
    ...beside
      .filter((field) => active !== undefined || isSet(policy[field]))
      .map((field) => `~ ${field}: ${visibleLine(JSON.stringify(policy[field]) ?? 'none')}`),
  ]
}

const rulesOf = (policy: PolicyDocument | undefined): ReadonlyMap<string, PolicyRule> =>
  new Map(policy?.rule.map((rule) => [rule.name, rule]))

const ruleLine = ({ name, decision }: PolicyRule): string => `${name}: ${decision}`

const isSet = (value: unknown): boolean => value !== undefined && value !== false

/** Both were read by the same schema, so their members come in the same order. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
