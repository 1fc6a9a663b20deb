import { readCases, type SteadyClient } from '@parley/client'
import { type JobId, type JobListItem, JobStatus, type ToolOutput, isEnd, shortCountsText, unjudgedWords } from '@parley/protocol'
import { NO_SCREEN, agoText, columns, plainText, prose, timeText } from '@parley/screen'
import type { Invocation } from '@parley/command-line'
import { show, wholeNumber } from '@parley/command-line/commands'
import {
  chooseModel,
  endingText,
  exitCodeOf,
  inOptions,
  neverStarted,
  neverStartedText,
  readEnding,
  sendTests,
  startOrDelete,
  statusWithReason,
  statusWord,
  type Submission,
  submissionOf,
  waitingText,
  watchJob,
} from '@parley/shell'
import { checkJobText, findJobId } from '../../caller/find-id.ts'
import { withCaller } from '../../caller/with-caller.ts'

const LIMIT = { min: 1, max: 200 }
const LIMIT_USUAL = 50

export async function jobSubmit(invocation: Invocation): Promise<number> {
  const submission = submissionOf(invocation)
  return withCaller(invocation, 'user', async (caller) => {
    const chosen = submission.needsModel ? await chooseModel(caller, submission.input) : {}
    const whole = { ...submission, input: { ...submission.input, ...chosen } }
    const created = await create(caller, whole).catch((error: unknown) => {
      throw inOptions(error, invocation)
    })
    const { status } = await startOrDelete(caller, created.job_id)
    return started(caller, invocation, { ...created, status })
  })
}

async function create(caller: SteadyClient, { input, zip }: Submission): Promise<ToolOutput<'job.create'>> {
  const tests = zip === undefined ? {} : await sendTests(caller, zip)
  return caller.once('job.create', { ...input, ...tests })
}

export const jobRetry = (invocation: Invocation): Promise<number> =>
  withJob(invocation, async (caller, job_id) => {
    const { status } = await caller.call('job.get_state', { job_id })
    if (status === 'created') throw neverStarted(job_id)
    return started(caller, invocation, await caller.once('job.retry', { job_id }))
  })

/** The job runs: shows it, or says how to. */
function started(caller: SteadyClient, invocation: Invocation, job: ToolOutput<'job.create'>): Promise<number> | number {
  const { io, values } = invocation
  const isWatched = values.has('watch') || (values.has('json') && !values.has('detach'))
  if (values.has('json')) io.out(`${JSON.stringify(job)}\n`)
  else {
    for (const { message } of job.warnings) io.err(`warning: ${plainText(message)}\n`)
    if (job.url !== null) io.err(`${job.url} is its page\n`)
  }
  if (isWatched) return watchJob(caller, job.job_id, invocation, 'cancels')
  if (!values.has('json')) io.out(`${job.job_id}\n`)
  io.err(`parley job watch ${job.job_id} shows it\n`)
  return 0
}

export const jobWatch = (invocation: Invocation): Promise<number> =>
  withJob(invocation, (caller, jobId) => watchJob(caller, jobId, invocation, 'leaves'))

export async function jobList(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const limit = wholeNumber(values, 'limit', LIMIT) ?? LIMIT_USUAL
  const status = JobStatus.safeParse(values.text('status')).data
  return withCaller(invocation, 'user', async (caller) => {
    const { admin } = await caller.call('account.get', {})
    const result = await caller.call('job.list', { limit, ...(status === undefined ? {} : { status: [status] }) })
    // Whoever sees the jobs of others sees whose they are.
    const ownerOf = (owner: string | null): string[] => (admin ? [owner ?? ''] : [])
    const rows = result.items.map((item) => [
      item.job_id,
      ...ownerOf(item.owner),
      prose(statusWithReason(statusWord(item), item.waiting)),
      countsOf(item),
      item.language,
      agoText(item.created_at, io),
      prose(item.title),
    ])
    if (rows.length === 0 && !values.has('json'))
      io.err(status === undefined ? 'there is no job yet; parley job submit hands one in\n' : `no job is ${status}\n`)
    const headings = ['id', ...ownerOf('owner'), 'status', 'passed', 'language', 'created', 'title']
    return show(invocation, result, columns([headings, ...rows], io.screen(), { mayGo: ['language', 'owner'] }))
  })
}

/** How many cases passed; of a job that nobody judged, why. */
function countsOf(item: JobListItem): string {
  if (item.unjudged) return unjudgedWords(item).why
  return item.summary === null ? '' : shortCountsText(item.summary)
}

export const jobShow = (invocation: Invocation): Promise<number> =>
  withJob(invocation, async (caller, job_id) => {
    const { io, values } = invocation
    const state = await caller.call('job.get_state', { job_id })
    const { report, ...known } = await readEnding(caller, state)
    const soFar = report === null ? { cases: await readCases(caller, job_id) } : {}
    const ending = { ...known, report, ...soFar }
    if (values.has('json')) io.out(`${JSON.stringify({ job_id: state.job_id, status: state.status, state, report, ...soFar })}\n`)
    else {
      const facts = [
        ['job', state.job_id],
        ['title', prose(state.title)],
        ['owner', state.owner ?? ''],
        ['language', state.language],
        ['created', timeText(state.created_at, io)],
        ...(state.judge === null ? [] : [['judge', state.judge.name]]),
        ...(state.waiting === null ? [] : [['', prose(waitingText(state.waiting))]]),
        ...(state.status === 'created' ? [['', neverStartedText(job_id)]] : []),
      ]
      io.out(`${columns(facts, io.screen(), { wraps: true })}\n\n${endingText(ending, io.screen() ?? NO_SCREEN)}`)
    }
    return isEnd(state.status) ? exitCodeOf(ending) : 0
  })

export const jobCancel = (invocation: Invocation): Promise<number> =>
  withJob(invocation, async (caller, job_id) => {
    const before = await caller.call('job.get_state', { job_id })
    const result = await caller.call('job.cancel', { job_id })
    // It may also have ended by itself between the two.
    const hadEnded = isEnd(before.status) || (isEnd(result.status) && result.status !== 'cancelled')
    const said = hadEnded ? `had already ended (${result.status}); nothing to cancel` : `is ${result.status}`
    return show(invocation, result, `${result.job_id} ${said}.`)
  })

export const jobDelete = (invocation: Invocation): Promise<number> =>
  withJob(invocation, async (caller, job_id) => {
    const result = await caller.once('job.delete', { job_id })
    return show(invocation, result, `${result.job_id} is deleted.`)
  })

/** Does something with the job that the command line means. */
export const withJob = (
  invocation: Invocation,
  use: (caller: SteadyClient, jobId: JobId) => Promise<number> | number,
): Promise<number> => {
  const given = invocation.positionals[0] ?? ''
  checkJobText(given)
  return withCaller(invocation, 'user', async (caller) => use(caller, await findJobId(caller, given)))
}
