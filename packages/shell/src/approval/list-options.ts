import { APPROVAL_LIMITS, ApprovalStatus, type ToolInput } from '@parley/protocol'
import { type Invocation, type OptionSpec, usageError } from '@parley/command-line'
import { momentOf, wholeNumber } from '@parley/command-line/commands'

/** Which of them are listed. */
export const LIST_OPTIONS = {
  all: { doc: 'also those that do not wait any more; so do the options below' },
  search: { doc: 'only those with this text in the call, who called, why, who decided and why', value: 'TEXT' },
  since: { doc: 'only those asked since: a date, a moment (2026-11-16 22:10), or how long ago: 30m, 12h, 7d', value: 'TIME' },
  until: { doc: 'the same', value: 'TIME' },
  limit: { doc: 'at most so many, the newest (default: all)', value: 'N' },
} as const satisfies Record<string, OptionSpec>

/** More than this is no list for a terminal. */
const LIMIT = { min: 1, max: 10_000 }

interface ListWords extends Pick<ToolInput<'approval.list'>, 'statuses' | 'search' | 'since' | 'until'> {
  readonly most: number
}

/** What was typed, as `approval.list` takes it. Who searches wants to find what was decided, too. */
export function listWords(invocation: Invocation): ListWords {
  const { values } = invocation
  const search = values.text('search')
  if (search !== undefined && (search === '' || search.length > APPROVAL_LIMITS.searchChars))
    throw usageError(`--search must have 1 to ${APPROVAL_LIMITS.searchChars} characters`)
  const isAll = ['all', 'search', 'since', 'until'].some((name) => values.has(name))
  return {
    most: wholeNumber(values, 'limit', LIMIT) ?? LIMIT.max,
    ...(isAll ? { statuses: [...ApprovalStatus.options] } : {}),
    ...(search === undefined ? {} : { search }),
    ...momentOf(invocation, 'since'),
    ...momentOf(invocation, 'until'),
  }
}
