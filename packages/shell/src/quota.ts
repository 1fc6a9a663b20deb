import { type Invocation, usageError } from '@parley/command-line'
import { type Quota, dollars } from '@parley/protocol'
import { columns, timeText } from '@parley/screen'
import { counted } from '@parley/screen/usage'

const MICROUSD = 1_000_000
/** In place of a number: what the installation says. */
const DEFAULT = 'default'

/** What somebody uses of what they may, as a table. */
export function quotaText(username: string | null, quota: Quota, { io }: Invocation): string {
  const { jobs_at_once, tokens_per_day, microusd_per_day, kept_bytes, kept_jobs, resets_at } = quota
  const row = (what: string, { used, limit }: Quota['jobs_at_once'], text: (value: number) => string): string[] => [
    what,
    text(used),
    limit === null ? 'no bound' : text(limit),
  ]
  const table = columns(
    [
      ['', 'used', 'of'],
      row('jobs at once', jobs_at_once, counted),
      row('tokens today', tokens_per_day, counted),
      row('cost today', microusd_per_day, dollars),
      row('kept jobs', kept_jobs, counted),
      row('kept bytes', kept_bytes, counted),
    ],
    io.screen(),
  )
  // The shell on the gateway's own machine may have no account.
  const whose = username === null ? 'Without an account' : `Quota of ${username}`
  return `${whose}:\n${table}\nA new day begins at ${timeText(resets_at, io)}.`
}

/** What of a quota is to be another, by the options that say so. */
export const quotaBounds = (values: Invocation['values']) => ({
  ...boundOf(values, 'jobs', 'jobs_at_once', whole),
  ...boundOf(values, 'tokens', 'tokens_per_day', whole),
  ...boundOf(values, 'usd', 'microusd_per_day', microusd),
  ...boundOf(values, 'kept-bytes', 'kept_bytes', bytes),
  ...boundOf(values, 'kept-jobs', 'kept_jobs', whole),
})

function boundOf<Key extends string>(
  values: Invocation['values'],
  flag: string,
  key: Key,
  parse: (flag: string, text: string) => number,
): { [bound in Key]?: number | null } {
  const text = values.text(flag)
  if (text === undefined) return {}
  const bounds: { [bound in Key]?: number | null } = {}
  bounds[key] = text === DEFAULT ? null : parse(flag, text)
  return bounds
}

function whole(flag: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw usageError(`--${flag} must be a whole number, or ${DEFAULT}, not ${JSON.stringify(text)}`)
}

function bytes(flag: string, text: string): number {
  const [, digits, unit] = /^(\d{1,12})(KiB|MiB|GiB|)$/.exec(text) ?? []
  const size = Number(digits) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(unit ?? '')
  if (digits !== undefined && Number.isSafeInteger(size)) return size
  throw usageError(`--${flag} must be bytes, such as 4GiB or 500MiB, or ${DEFAULT}, not ${JSON.stringify(text)}`)
}

function microusd(flag: string, text: string): number {
  if (/^\d{1,7}(\.\d{1,6})?$/.test(text)) return Math.round(Number(text) * MICROUSD)
  throw usageError(`--${flag} must be dollars, such as 2.50, or ${DEFAULT}, not ${JSON.stringify(text)}`)
}
