/** More doublings than these are past every longest wait. */
const DOUBLINGS = 30

/** How long to wait after so many failures: doubled each time, and up to a half less, so that many do not come at once. */
export function backoffMs(
  failures: number,
  { minMs, maxMs }: { readonly minMs: number; readonly maxMs: number },
  random: () => number,
): number {
  const grown = Math.min(maxMs, minMs * 2 ** Math.min(failures, DOUBLINGS))
  return Math.max(minMs / 2, grown * (0.5 + random() / 2))
}
