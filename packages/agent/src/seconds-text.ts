const MINUTE = 60
const HOUR = 3_600

/** A time as people say it: `20 s`, `5 min`, `2 h`. */
export function secondsText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000))
  if (seconds < 2 * MINUTE) return `${seconds} s`
  return seconds < 2 * HOUR ? `${Math.round(seconds / MINUTE)} min` : `${Math.round(seconds / HOUR)} h`
}
