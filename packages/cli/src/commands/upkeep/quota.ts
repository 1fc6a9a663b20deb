import type { SteadyClient } from '@parley/client'
import { type Quota, type UserId, dollars } from '@parley/protocol'
import { columns, timeText } from '@parley/screen'
import { counted } from '@parley/screen/usage'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { itemsOf } from '../../caller/items-of.ts'
import { withCaller } from '../../caller/with-caller.ts'

const USERS_PAGE = 500
/** More accounts than this are not looked through for a name. */
const PAGES_MAX = 1_000
const MICROUSD = 1_000_000
/** In place of a number: what the installation says. */
const DEFAULT = 'default'

/** One's own quota, or somebody's for an admin. */
export const quotaShow = (invocation: Invocation): Promise<number> => {
  const [name] = invocation.positionals
  return withCaller(invocation, name === undefined ? 'user' : 'admin', async (caller) => {
    const whose = name === undefined ? {} : { owner_user_id: await userIdOf(caller, name) }
    const { quota } = await caller.call('usage.summary', { limit: 1, ...whose })
    const username = name ?? (await caller.call('account.get', {})).username
    return show(invocation, { username, quota }, quotaText(username, quota, invocation))
  })
}

/** Changes what one person may use; what is not said stays. */
export const quotaSet = (invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const bounds = {
    ...boundOf(values, 'jobs', 'jobs_at_once', whole),
    ...boundOf(values, 'tokens', 'tokens_per_day', whole),
    ...boundOf(values, 'usd', 'microusd_per_day', microusd),
    ...boundOf(values, 'kept-bytes', 'kept_bytes', bytes),
    ...boundOf(values, 'kept-jobs', 'kept_jobs', whole),
  }
  if (Object.keys(bounds).length === 0)
    throw usageError(
      'quota set needs at least one of --jobs, --tokens, --usd, --kept-bytes, --kept-jobs',
      'parley quota set --help',
    )
  return withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('user.set_quota', { username: positionals[0] ?? '', ...bounds })
    return show(invocation, result, quotaText(result.username, result.quota, invocation))
  })
}

function quotaText(username: string | null, quota: Quota, { io }: Invocation): string {
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

async function userIdOf(caller: SteadyClient, name: string): Promise<UserId> {
  const users = itemsOf((from) => caller.call('user.list', { limit: USERS_PAGE, ...from }), PAGES_MAX)
  for await (const { id, username } of users) if (username === name) return id
  throw new CommandError('not_found', `there is no user ${name}`, { hint: 'parley user list shows the names' })
}

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
