import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { JobId, type JobListItem, JobStatus, type ToolOutput, isEnd, shortCountsText, unjudgedWords } from '@parley/protocol'
import type { Invocation } from '../command-line/command.ts'
import { CommandError, usageError } from '../command-line/command-error.ts'
import { endingText, exitCodeOf, readEnding } from '../job/ending.ts'
import { chooseModel } from '../job/model-options.ts'
import { inOptions } from '../job/option-names.ts'
import { plainLines, plainText } from '../job/plain-text.ts'
import { NO_SCREEN } from '../job/screen.ts'
import { statusWord } from '../job/status-word.ts'
import type { SteadyCaller } from '../job/steady-caller.ts'
import { type Submission, submissionOf } from '../job/submission.ts'
import { sendTests } from '../job/upload.ts'
import { statusWithReason, waitingText } from '../job/waiting-text.ts'
import { watchJob } from '../job/watch-job.ts'
import { columns } from './columns.ts'
import { show, withCaller } from './with-caller.ts'

const LIST_LIMIT = 50
const LIST_MAX = 200

export async function jobSubmit(invocation: Invocation): Promise<number> {
  const submission = submissionOf(invocation)
  return withCaller(invocation, 'user', async (caller) => {
    const chosen = submission.needsModel ? await chooseModel(caller, submission.input) : {}
    const whole = { ...submission, input: { ...submission.input, ...chosen } }
    const created = await create(caller, whole).catch((error: unknown) => {
      throw inOptions(error, invocation)
    })
    const { status } = await caller.call('job.start', { job_id: created.job_id })
    return started(caller, invocation, { ...created, status })
  })
}

async function create(caller: SteadyCaller, { input, zip }: Submission): Promise<ToolOutput<'job.create'>> {
  const tests = zip === undefined ? {} : await sendTests(caller, zip)
  return caller.once('job.create', { ...input, ...tests })
}

export const jobRetry = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) =>
    started(caller, invocation, await caller.once('job.retry', { job_id: idOf(invocation) })),
  )

/** The job runs: shows it, or says how to. */
function started(caller: SteadyCaller, invocation: Invocation, job: ToolOutput<'job.create'>): Promise<number> | number {
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
  withCaller(invocation, 'user', (caller) => watchJob(caller, idOf(invocation), invocation, 'leaves'))

export async function jobList(invocation: Invocation): Promise<number> {
  const { values } = invocation
  const limit = limitOf(values.text('limit'))
  const status = JobStatus.safeParse(values.text('status')).data
  return withCaller(invocation, 'user', async (caller) => {
    const { admin } = await caller.call('account.get', {})
    const result = await caller.call('job.list', { limit, ...(status === undefined ? {} : { status: [status] }) })
    // Whoever sees the jobs of others sees whose they are.
    const ownerOf = (owner: string | null): string[] => (admin ? [owner ?? ''] : [])
    const rows = result.items.map((item) => [
      item.job_id,
      ...ownerOf(item.owner),
      statusWithReason(statusWord(item), item.waiting),
      countsOf(item),
      item.language,
      item.created_at,
      item.title,
    ])
    return show(
      invocation,
      result,
      columns([['id', ...ownerOf('owner'), 'status', 'passed', 'language', 'created', 'title'], ...rows]),
    )
  })
}

/** How many cases passed; of a job that nobody judged, why. */
function countsOf(item: JobListItem): string {
  if (item.unjudged) return unjudgedWords(item).why
  return item.summary === null ? '' : shortCountsText(item.summary)
}

export const jobShow = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const { io, values } = invocation
    const state = await caller.call('job.get_state', { job_id: idOf(invocation) })
    const ending = await readEnding(caller, state)
    if (values.has('json'))
      io.out(`${JSON.stringify({ job_id: state.job_id, status: state.status, state, report: ending.report })}\n`)
    else {
      const facts = [
        ['job', state.job_id],
        ['title', state.title],
        ['owner', state.owner ?? ''],
        ['language', state.language],
        ['created', state.created_at],
        ...(state.judge === null ? [] : [['judge', state.judge.name]]),
        ...(state.waiting === null ? [] : [['', waitingText(state.waiting)]]),
      ]
      io.out(`${columns(facts)}\n\n${endingText(ending, io.screen() ?? NO_SCREEN)}`)
    }
    return isEnd(state.status) ? exitCodeOf(ending) : 0
  })

export const jobCancel = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const result = await caller.call('job.cancel', { job_id: idOf(invocation) })
    return show(invocation, result, `${result.job_id} is ${result.status}.`)
  })

export const jobDelete = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const result = await caller.once('job.delete', { job_id: idOf(invocation) })
    return show(invocation, result, `${result.job_id} is deleted.`)
  })

export const jobArtifacts = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const { io, values, positionals } = invocation
    const job_id = idOf(invocation)
    const [, wanted] = positionals
    const out = values.text('out')
    const { artifacts } = await caller.call('job.get_state', { job_id })
    const names = wanted === undefined ? artifacts.names : artifacts.names.filter((name) => name === wanted)
    if (wanted !== undefined && names.length === 0)
      throw new CommandError('not_found', `${job_id} has no ${wanted}`, {
        hint: `it has: ${artifacts.names.join(', ') || 'nothing'}`,
      })
    if (wanted === undefined && out === undefined && !values.has('json')) {
      io.out(artifacts.names.length === 0 ? '' : `${artifacts.names.map(plainText).join('\n')}\n`)
      return 0
    }
    const { items } = await caller.call('job.get_artifacts', { job_id, names })
    if (values.has('json')) return show(invocation, { job_id, items }, '')
    for (const [name, content] of Object.entries(items)) {
      const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
      if (out === undefined) io.out(io.screen() === undefined ? text : plainLines(text))
      else io.err(`${writeInto(resolve(io.cwd, out), name, text)}\n`)
    }
    return 0
  })

/** Names come from judges: only plain ones become files. */
function writeInto(folder: string, name: string, text: string): string {
  if (!name.split('/').every((part) => /^[\w-][\w.-]*$/.test(part)))
    throw new CommandError('bad_name', `${plainText(name)} is no name for a file`)
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

function idOf({ positionals }: Invocation): JobId {
  const id = JobId.safeParse(positionals[0])
  if (!id.success) throw usageError(`JOB ${id.error.issues[0]?.message}`, 'parley job list shows the ids')
  return id.data
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return LIST_LIMIT
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIST_MAX) throw usageError(`--limit must be a whole number from 1 to ${LIST_MAX}`)
  return limit
}
