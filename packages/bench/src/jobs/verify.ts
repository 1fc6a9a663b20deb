import { AgentStatusItem, CaseItem, type JobId, type JobLogName, type JobState, Report, isEnd } from '@parley/protocol'
import type { Client } from '@parley/rpc'
import type { Tally } from '../soak.ts'
import { type HandedIn, untilAnswered } from './handed-in.ts'

const CHUNK_BYTES = 1 << 20
const POISONED = 'poisoned'
const CLAIMS_TO_POISON = 3

/** Whether a job ended as it had to, once, with everything that belongs to it. */
export async function verifyJob(client: Client, job: HandedIn, killed: ReadonlySet<string>, tally: Tally): Promise<void> {
  const say = (text: string): void => tally.problem(`${job.id} (${job.problem.name}): ${text}`)
  const state = await untilAnswered(client, 'job.get_state', { job_id: job.id }, tally)
  if (!isEnd(state.status)) return say(`is still ${state.status}`)
  const { items } = await untilAnswered(client, 'job.get_artifacts', { job_id: job.id, names: ['report.json'] }, tally)
  const report = Report.safeParse(items['report.json'])
  if (!report.success) return say(`its report does not fit: ${report.error.message}`)
  const [lines, cases] = [await jsonLines(client, job.id, 'agent_status', tally), await jsonLines(client, job.id, 'cases', tally)]
  if (lines === undefined || cases === undefined) return say('a log has a line that is no JSON')
  if (state.error?.code === POISONED) return poisoned(lines, killed, tally, say)
  tally.count(state.status)
  if (state.status !== job.problem.status) say(`ended as ${state.status}: ${JSON.stringify(state.error)}`)
  const verdicts = report.data.tests.map((test) => test.verdict)
  if (verdicts.join() !== job.problem.verdicts.join()) say(`verdicts ${verdicts.join()}, expected ${job.problem.verdicts.join()}`)
  if (report.data.claim !== state.claims) say(`the report is of claim ${report.data.claim}, the last was ${state.claims}`)
  casesOfLastAttempt(cases, state, job, say)
  lastLine(lines, say)
}

/** Nothing but three judges that we killed at work on it may give a job up. */
function poisoned(lines: readonly unknown[], killed: ReadonlySet<string>, tally: Tally, say: (text: string) => void): void {
  const takers = lines.flatMap((line) => {
    const taker = /^claimed by (\S+)$/.exec(AgentStatusItem.safeParse(line).data?.summary ?? '')?.[1]
    return taker === undefined ? [] : [taker]
  })
  const dead = new Set(takers.filter((name) => killed.has(name)))
  tally.count('given up after three kills')
  if (dead.size < CLAIMS_TO_POISON) say(`was given up, but only ${[...dead].join()} of ${takers.join()} were killed`)
}

function casesOfLastAttempt(cases: readonly unknown[], state: JobState, job: HandedIn, say: (text: string) => void): void {
  const items = cases
    .map((line) => CaseItem.parse(line))
    .filter((item) => item.claim === state.claims && item.attempt === state.attempt)
  const inOrder = items.toSorted((a, b) => a.index - b.index).map((item) => item.verdict)
  if (inOrder.join() !== job.problem.verdicts.join())
    say(`the log of cases has ${inOrder.join()} for claim ${state.claims}, attempt ${state.attempt}`)
}

/** Everything was flushed before the end: the last status line is the one that says so. */
function lastLine(lines: readonly unknown[], say: (text: string) => void): void {
  const last = AgentStatusItem.safeParse(lines.at(-1))
  if (!last.success || (last.data.stage !== 'done' && last.data.stage !== 'error'))
    say(`its last status line is ${JSON.stringify(lines.at(-1))}`)
}

async function jsonLines(client: Client, id: JobId, stream: JobLogName, tally: Tally): Promise<readonly unknown[] | undefined> {
  const chunks: Buffer[] = []
  for (let offset = 0; ;) {
    const page = await untilAnswered(client, 'job.read_log', { job_id: id, stream, offset, max_bytes: CHUNK_BYTES }, tally)
    chunks.push(Buffer.from(page.chunk_b64, 'base64'))
    offset = page.next_offset
    if (page.eof) break
  }
  const text = Buffer.concat(chunks).toString()
  tally.count(`bytes of ${stream}`, text.length)
  if (text !== '' && !text.endsWith('\n')) return undefined
  try {
    return text
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line))
  } catch {
    return undefined
  }
}
