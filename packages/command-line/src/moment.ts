import { zoneFormat } from '@parley/screen'
import type { Invocation } from './command.ts'
import { usageError } from './command-error.ts'

const AGO_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const LOCAL = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?$/
const EXACT = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/

/** The moment that an option names, as the wire wants it: how long ago, or a date and time in the reader's own zone. */
export function momentOf<Flag extends string>({ values, io }: Invocation, flag: Flag): { [name in Flag]?: string } {
  const text = values.text(flag)
  const found: { [name in Flag]?: string } = {}
  if (text === undefined) return found
  const ms = agoMs(text, io.now()) ?? localMs(text, io.env['TZ']) ?? (EXACT.test(text) ? Date.parse(text) : Number.NaN)
  if (!Number.isFinite(ms))
    throw usageError(
      `--${flag} must be a date, a moment or how long ago, not ${JSON.stringify(text)}`,
      "2026-11-16, '2026-11-16 22:10', 30m, 12h, 7d",
    )
  found[flag] = new Date(ms).toISOString()
  return found
}

function agoMs(text: string, now: number): number | undefined {
  const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (digits === undefined || unit === undefined) return undefined
  return now - Number(digits) * (AGO_SECONDS[unit] ?? 1) * 1_000
}

/** A time by the clock of a zone: what that clock would have to be moved by to show UTC, taken off twice for changes of summer time. */
function localMs(text: string, zone: string | undefined): number | undefined {
  const parts = LOCAL.exec(text)
  if (parts === null) return undefined
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts.slice(1).map((part) => Number(part ?? 0))
  const asUtc = Date.UTC(year, month - 1, day, hour, minute, second)
  const isReal = new Date(asUtc).getUTCMonth() === month - 1 && hour < 24 && minute < 60 && second < 60
  if (!isReal) return Number.NaN
  const first = asUtc - offsetMs(asUtc, zone)
  return asUtc - offsetMs(first, zone)
}

function offsetMs(at: number, zone: string | undefined): number {
  const shown = zoneFormat(zone).formatToParts(new Date(at))
  const part = (name: Intl.DateTimeFormatPartTypes): number => Number(shown.find(({ type }) => type === name)?.value ?? 0)
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return wall - Math.floor(at / 1_000) * 1_000
}
