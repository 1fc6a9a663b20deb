import type { SteadyClient } from '@parley/client'
import { JobId } from '@parley/protocol'
import { plainText } from '@parley/screen'
import { CommandError, usageError } from '@parley/command-line'
import { type ReadPage, itemsOf } from './items-of.ts'

/** Of a million ids hardly two begin with the same four characters; with fewer one meets another's too often. */
const START_MIN = 4
const ID_CHARS = 26
/** So many are looked through for a beginning; whoever has more gives the whole id. */
const PAGE = 200
const PAGES_MAX = 50
/** As many as one chooses from. */
const SHOWN = 6
const TITLE_CHARS = 40
const LAST = '@last'

/** What has ids of a kind: jobs, tokens. */
export interface IdKind<Id extends string> {
  readonly noun: string
  /** What the argument is called in the help. */
  readonly what: string
  /** What ids begin with: `job_`. */
  readonly prefix: string
  /** What lists them. */
  readonly list: string
  readonly whole: (text: string) => Id | undefined
  readonly page: ReadPage<{ readonly id: Id; readonly about: string }>
}

/** What is no id and no beginning of one is told before anybody is asked. Answers it without the prefix. */
export function startOfId({ noun, what, prefix, list }: Omit<IdKind<string>, 'whole' | 'page'>, given: string): string {
  const text = given.toLowerCase()
  const start = text.startsWith(prefix) ? text.slice(prefix.length) : text
  const isWord = /^[0-9a-z]*$/.test(start)
  if (isWord && start.length >= START_MIN && start.length <= ID_CHARS) return start
  const why =
    isWord && start.length < START_MIN
      ? `: at least ${START_MIN} characters of it are needed after ${prefix}`
      : `, nor its first ${START_MIN} characters or more`
  throw usageError(
    `${what} ${JSON.stringify(given)} is no id of ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}${why}`,
    `${list} shows the ids`,
  )
}

/** The id that was meant by the whole of it or by a beginning that no other has. */
export async function findId<Id extends string>(kind: IdKind<Id>, given: string): Promise<Id> {
  const { noun, prefix, list } = kind
  const start = startOfId(kind, given)
  const whole = kind.whole(`${prefix}${start}`)
  if (whole !== undefined) return whole
  const found: { readonly id: Id; readonly about: string }[] = []
  const tooMany = (): CommandError =>
    new CommandError('too_many', `there are too many ${noun}s to look through for ${prefix}${start}`, {
      hint: 'give the whole id',
    })
  for await (const item of itemsOf(kind.page, PAGES_MAX, tooMany)) if (item.id.startsWith(`${prefix}${start}`)) found.push(item)
  const [only] = found
  if (only === undefined)
    throw new CommandError('not_found', `there is no ${noun} whose id begins with ${prefix}${start}`, {
      hint: `${list} shows the ids`,
    })
  if (found.length === 1) return only.id
  const shown = found.slice(0, SHOWN).map(({ id, about }) => `${id}${about === '' ? '' : ` (${about})`}`)
  const more = found.length > SHOWN ? `, … ${found.length - SHOWN} more` : ''
  throw usageError(`${found.length} ${noun}s begin with ${prefix}${start}: ${shown.join(', ')}${more}`, 'give more of the id')
}

const JOB = { noun: 'job', what: 'JOB', prefix: 'job_', list: 'parley job list' } as const

/** Whether it can be the id of a job at all, or `@last`. */
export function checkJobText(given: string): void {
  if (given === LAST) return
  if (given.startsWith('@')) throw usageError(`JOB ${JSON.stringify(given)} is no id of a job`, `did you mean ${LAST}?`)
  startOfId(JOB, given)
}

/** The job that was meant: by its id, by a beginning of it, or the newest of the caller's own. */
export async function findJobId(caller: SteadyClient, given: string): Promise<JobId> {
  if (given === LAST) return lastJob(caller)
  return findId(
    {
      ...JOB,
      whole: (text) => JobId.safeParse(text).data,
      page: async (cursor) => {
        const { items, next_cursor } = await caller.call('job.list', { limit: PAGE, ...cursor })
        const about = (title: string): string => plainText(title).slice(0, TITLE_CHARS)
        return { items: items.map(({ job_id, title }) => ({ id: job_id, about: about(title) })), next_cursor }
      },
    },
    given,
  )
}

/** An admin's list holds everybody's, and the shell on the gateway's own machine may have no account. */
async function lastJob(caller: SteadyClient): Promise<JobId> {
  const { user_id } = await caller.call('account.get', {})
  const whose = user_id === null ? {} : { owner_user_id: user_id }
  const limit = user_id === null ? PAGE : 1
  const jobs = itemsOf((from) => caller.call('job.list', { ...whose, ...from, limit }), PAGES_MAX)
  for await (const { job_id, owner_user_id } of jobs) if (owner_user_id === user_id) return job_id
  throw new CommandError('not_found', `${LAST}: you have handed in no job yet`, { hint: 'parley job submit hands one in' })
}
