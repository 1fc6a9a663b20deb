const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
] as const

/** How long ago something was, in the largest unit that it fills. */
export function agoText(thenMs: number, nowMs: number): string {
  const passed = Math.max(0, nowMs - thenMs)
  for (const [name, ms] of UNITS) {
    const count = Math.floor(passed / ms)
    if (count > 0) return `${count} ${name}${count === 1 ? '' : 's'} ago`
  }
  return 'just now'
}

/** How long something took. */
export function durationText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`
  const minutes = Math.floor(ms / MINUTE_MS)
  const rest = Math.floor((ms % MINUTE_MS) / SECOND_MS)
  return minutes < 60 ? `${minutes} min ${rest} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
