import type { CallKind, ExampleCall, PolicyRule } from '@parley/protocol'

/** Fields that are a kind and the names within it. */
export const NAMED_KINDS = ['tool', 'resource', 'prompt', 'command'] as const satisfies readonly CallKind[]
export type NamedKind = (typeof NAMED_KINDS)[number]

/** Which of them a rule or an example has. */
export const namedKindsOf = (fields: Pick<PolicyRule | ExampleCall, NamedKind>): readonly NamedKind[] =>
  NAMED_KINDS.filter((kind) => fields[kind] !== undefined)

/** One or many, as a list. */
export const listOf = <Item>(items: Item | readonly Item[] | undefined): readonly Item[] | undefined =>
  items === undefined ? undefined : isList(items) ? items : [items]

const isList = <Item>(items: Item | readonly Item[]): items is readonly Item[] => Array.isArray(items)
