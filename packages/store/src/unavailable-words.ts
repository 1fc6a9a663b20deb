import { StoreUnavailable } from '@parley/database'

/** What is said to somebody whom the database kept from being served: what is wrong with it, where that is known. */
export function unavailableWords(error: unknown): string {
  const cause = error instanceof StoreUnavailable || !(error instanceof Error) ? error : error.cause
  if (!(cause instanceof StoreUnavailable) || cause.fault === undefined) return 'the database does not answer'
  // Paths of the machine and words of the engine are for the log.
  switch (cause.fault) {
    case 'full':
      return 'the disk of the database is full'
    case 'damaged':
      return 'the database is damaged'
    case 'read_only':
      return 'the database cannot be written'
    default:
      return cause.fault satisfies never
  }
}
