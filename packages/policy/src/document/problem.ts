/** What is wrong with a policy: where, and what to do about it. */
export interface PolicyProblem {
  /** The rule's name, `rule 3` or `example 2` where it has none, and null for the policy as a whole. */
  readonly rule: string | null
  readonly field: string | null
  readonly problem: string
  readonly hint: string | null
}

/** On one line, for people. */
export function problemText({ rule, field, problem, hint }: PolicyProblem): string {
  const where = [rule, field].filter((part) => part !== null).join(', ')
  return `${where === '' ? '' : `${where}: `}${problem}${hint === null ? '' : ` (${hint})`}`
}
