/** About what one line of a terminal or one status item is. */
export const ENTRY_BYTES = 140
/** Done before the clock starts, so that the code is compiled and the caches are warm. */
export const WARM_SHARE = 0.25
/** Claims under way at once on PostgreSQL, the same for every target. */
export const CONCURRENCY = 8
