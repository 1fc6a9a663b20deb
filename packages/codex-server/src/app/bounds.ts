/** Listeners of all conversations. */
export const LISTENERS_MAX = 1_024
/** Events of one conversation that wait for a listener; the oldest make room. */
export const WAITING_EVENTS_MAX = 10_000
export const WAITING_BYTES_MAX = 32 * 1024 * 1024
/** Turns of one conversation that wait for the one under way. */
export const WAITING_TURNS_MAX = 64
/** Approvals that wait for the client, of all conversations. One more is denied. */
export const APPROVALS_MAX = 256
/** Requests that are being answered at once. */
export const REQUESTS_MAX = 1_024
/** Searches that can be cancelled by their token. */
export const SEARCHES_MAX = 64
/** Sign-ins whose end is waited for. */
export const LOGINS_MAX = 16
/** Pieces of one message. */
export const ITEMS_MAX = 1_024
/** A picture that is read from a file. */
export const IMAGE_BYTES_MAX = 20 * 1024 * 1024
/** How long an interrupted turn may take to end. */
export const INTERRUPT_MS = 30_000
/** From the end of the input to the end of the server. */
export const END_MS = 2_000
/** Of these, how long requests under way may still be answered. */
export const LAST_ANSWERS_MS = 1_000
/** As Codex has it. */
export const PAGE_SIZE = 25
export const PAGE_SIZE_MAX = 100
