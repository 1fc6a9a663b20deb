import { usageError } from './command-error.ts'

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `90s`, `30m`, `12h`, `7d` in seconds. */
export function parseDuration(flag: string, text: string): number {
  const [, digits, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? []
  if (digits === undefined || unit === undefined)
    throw usageError(`${flag} must be a number and one of s, m, h, d, as in 12h, not ${JSON.stringify(text)}`)
  return Number(digits) * (SECONDS[unit] ?? 1)
}
