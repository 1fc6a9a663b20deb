import type { Screen } from './screen.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Where the reader is: their variables, among them the time zone. */
interface Place {
  readonly env: Readonly<Record<string, string | undefined>>
}
/** The same at a certain moment; a reader without a screen reads a file. */
interface Reader extends Place {
  now(): number
  screen(): Screen | undefined
}

/** A moment for a person: in the time zone of whoever reads it, to the minute. */
export function timeText(iso: string, { env }: Place): string {
  const part = partsOf(iso, env['TZ'])
  return `${part('year')}-${part('month')}-${part('day')} ${part('hour')}:${part('minute')}`
}

/** The same to the second, where many things happen in a minute. */
export function secondText(iso: string, io: Place): string {
  return `${timeText(iso, io)}:${partsOf(iso, io.env['TZ'])('second')}`
}

/** How long ago, for a person at a terminal; into a file goes the moment itself, which stays true there. */
export function agoText(iso: string, io: Reader): string {
  const ms = io.now() - Date.parse(iso)
  if (io.screen() === undefined || ms < -MINUTE_MS || ms >= DAY_MS) return timeText(iso, io)
  if (ms < MINUTE_MS) return 'just now'
  return ms < HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} min ago` : `${Math.floor(ms / HOUR_MS)} h ago`
}

/** How long until a moment, in the same way: in a file it is the moment itself. */
export function leftText(iso: string, io: Reader): string {
  const ms = Date.parse(iso) - io.now()
  if (io.screen() === undefined || ms <= 0 || ms >= DAY_MS) return timeText(iso, io)
  if (ms < MINUTE_MS) return 'in less than a minute'
  return ms < HOUR_MS ? `in ${Math.floor(ms / MINUTE_MS)} min` : `in ${Math.floor(ms / HOUR_MS)} h`
}

function partsOf(iso: string, zone: string | undefined): (name: Intl.DateTimeFormatPartTypes) => string {
  const parts = zoneFormat(zone).formatToParts(new Date(iso))
  return (name) => parts.find(({ type }) => type === name)?.value ?? ''
}

/** What Intl does not know as a zone, such as `:/etc/localtime`, the process has understood by itself when it started. */
export function zoneFormat(zone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-CA', { ...FORMAT, ...(zone === undefined || zone === '' ? {} : { timeZone: zone }) })
  } catch {
    return new Intl.DateTimeFormat('en-CA', FORMAT)
  }
}

const FORMAT = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const
