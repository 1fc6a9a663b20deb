import type { Reach } from '@parley/agent'

/** What the thread that searches is told. Read without a library: most of a short search is the start of its thread. */
export interface SearchOrder {
  /** The conversation's folder. */
  readonly folder: string
  /** Where it led when the conversation was opened. */
  readonly real: string
  /** What is not searched, by path, and by what lay there when the folder was opened. */
  readonly outOfReach: readonly string[]
  readonly known: ReadonlySet<string>
  readonly path: string
  readonly reach: Reach
  /** A regular expression in any case. */
  readonly pattern: string
  readonly flags: string
  readonly glob: string | null
  readonly maxResults: number
}

export function readSearchOrder(data: unknown): SearchOrder {
  if (!isSearchOrder(data)) throw new TypeError('this thread was started without an order')
  return data
}

/** Only our own side starts the thread: the check is for the compiler and for mistakes. */
function isSearchOrder(data: unknown): data is SearchOrder {
  return typeof data === 'object' && data !== null && 'folder' in data && 'pattern' in data && 'maxResults' in data
}
