import type { PolicyDocument, PolicyReview, PolicyRule } from '@parley/protocol'
import { visibleLine, visibleName, visibleText } from '@parley/protocol/visible'
import { hashOf } from '../call/digest.ts'
import type { Preview } from './preview.ts'

/** As much of a value as tells what it is; all of it stands in the text below. */
const VALUE_CHARS = 48
/** Of so many rules it is shown how they change. Of more, what changes: otherwise the changes could be longer than the text. */
const RULES_WITH_VALUES = 100

/** Another policy, the one that is active now, and what it would have changed. */
export interface ProposedPolicy {
  readonly text: string
  readonly note: string
  readonly policy: PolicyDocument
  readonly active: PolicyDocument | undefined
  readonly replayed: Pick<PolicyReview['replayed'], 'calls' | 'changed' | 'looser' | 'items'>
}

/**
 * A proposed policy as people are shown it: what changes, and then all of its text. Nothing is hidden and nothing left out: what somebody
 * did not see they did not approve, and a policy holds no secrets.
 */
export function proposalPreview(proposed: ProposedPolicy): Pick<Preview, 'text' | 'hash'> {
  const { text, note, replayed } = proposed
  const { calls, changed, looser, items } = replayed
  const lines = [
    ...(note === '' ? [] : [`Note: ${visibleLine(note)}`]),
    `Of the last ${calls} calls ${changed} would be decided otherwise, ${looser} of them looser.`,
    ...items.map(decidedOtherwise),
    ...(changed > items.length ? [`… and ${changed - items.length} more calls`] : []),
    ...changesOf(proposed),
    '',
    `The whole text, ${text.length} characters:`,
    '',
    visibleText(text),
  ]
  const shown = lines.join('\n')
  return { text: shown, hash: hashOf(shown) }
}

/** A call that was made, and what would be decided about it. */
function decidedOtherwise({
  looser,
  kind,
  mount,
  name,
  before,
  after,
  rule,
  at,
}: PolicyReview['replayed']['items'][number]): string {
  const call = [kind, ...(mount === null ? [] : [visibleName(mount)]), visibleName(name)].join(' ')
  const by = rule === null ? '' : ` by the rule ${rule}`
  return `  ${looser ? 'looser' : 'stricter'}: ${call} of ${at}: ${before} → ${after}${by}`
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
    ...changed.map(
      (rule, at) => `~ rule ${rule.name}: ${(at < RULES_WITH_VALUES ? changesIn : fieldsIn)(before.get(rule.name), rule)}`,
    ),
    ...(isMoved ? ['~ rules that stay are in another order'] : []),
    ...beside
      .filter((field) => active !== undefined || isSet(policy[field]))
      .map((field) => `~ ${field}: ${visibleLine(JSON.stringify(policy[field]) ?? 'none')}`),
  ]
}

const rulesOf = (policy: PolicyDocument | undefined): ReadonlyMap<string, PolicyRule> =>
  new Map(policy?.rule.map((rule) => [rule.name, rule]))

const ruleLine = ({ name, decision }: PolicyRule): string => `${name}: ${decision}`

/** What a rule says otherwise than before, its decision first. */
const changesIn = (before: Partial<PolicyRule> | undefined, after: PolicyRule): string =>
  changedFields(before, after)
    .map(({ field, was, is }) => `${field}: ${valueText(was)} → ${valueText(is)}`)
    .join('; ')

const fieldsIn = (before: Partial<PolicyRule> | undefined, after: PolicyRule): string =>
  changedFields(before, after)
    .map(({ field }) => field)
    .join(', ')

function changedFields(before: Partial<PolicyRule> = {}, after: PolicyRule) {
  const [old, now] = [new Map<string, unknown>(Object.entries(before)), new Map<string, unknown>(Object.entries(after))]
  return [...new Set(['decision', ...old.keys(), ...now.keys()])]
    .map((field) => ({ field, was: old.get(field), is: now.get(field) }))
    .filter(({ was, is }) => !isSame(was, is))
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none')
  return visibleLine(text.length > VALUE_CHARS ? `${text.slice(0, VALUE_CHARS)}…` : text)
}

const isSet = (value: unknown): boolean => value !== undefined && value !== false

/** Both were read by the same schema, so their members come in the same order. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
