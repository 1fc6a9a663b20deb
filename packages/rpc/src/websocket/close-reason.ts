/** A close frame carries at most so many bytes; `ws` throws at more. */
const REASON_BYTES = 123

/** What a close frame can carry of a reason, without half a character at its end. */
export function closeReason(reason: string): string {
  return Buffer.from(reason)
    .subarray(0, REASON_BYTES)
    .toString('utf8')
    .replace(/\uFFFD$/, '')
}
