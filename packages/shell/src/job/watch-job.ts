import { type JobListener, type SteadyClient, followJob } from '@parley/client'
import type { JobId } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { linkTeller } from '../command-client.ts'
import { exitCodeOf, readEnding } from './view/ending.ts'
import { jsonView } from './view/json-view.ts'
import { liveView } from './view/live-view.ts'
import { neverStarted } from './never-started.ts'
import { plainView } from './view/plain-view.ts'
import type { JobView } from './view/view.ts'

const INTERRUPTED_EXIT = 130
/** How long a gateway that is not there is looked for to be told of a cancel. */
const CANCEL_MS = 15_000
const BEGUN_AGAIN = 'the gateway has other logs of this job than before; they are shown from their beginning\n'
/** What Ctrl-C does: ends the job that was handed in here, or only the watching of one that was not. */
export type Interrupt = 'cancels' | 'leaves'

/** Shows a job until it ends. Answers the exit code. */
export async function watchJob(
  caller: SteadyClient,
  jobId: JobId,
  { io, values }: Invocation,
  interrupt: Interrupt,
): Promise<number> {
  const view = viewFor({ io, values })
  caller.tell = linkTeller((text) => view.say(text))
  const left = new AbortController()
  let times = 0
  const ignore = io.onSignal(() => {
    times += 1
    if (times > 1 || interrupt === 'leaves') return left.abort()
    view.say(`cancelling ${jobId}; once more leaves it to itself\n`)
    const late = setTimeout(() => left.abort(), CANCEL_MS)
    left.signal.addEventListener('abort', () => clearTimeout(late), { once: true })
    caller.call('job.cancel', { job_id: jobId }, { signal: left.signal }).then(
      () => clearTimeout(late),
      () => {},
    )
  })
  // Of a job that nobody has started there is no end to wait for.
  const unstarted = new AbortController()
  const listener: JobListener = {
    ...view,
    state: (state) => {
      view.state(state)
      if (state.status === 'created') unstarted.abort()
    },
    restarted: () => view.say(BEGUN_AGAIN),
  }
  try {
    const signal = AbortSignal.any([left.signal, unstarted.signal])
    const state = await followJob(caller, jobId, listener, { until: 'end', signal }).ended
    const ending = await readEnding(caller, state)
    view.end(ending)
    return exitCodeOf(ending)
  } catch (error) {
    if (unstarted.signal.aborted) throw neverStarted(jobId)
    if (!left.signal.aborted) throw error
    view.close()
    io.err(`${jobId} goes on; parley job watch ${jobId} shows it again\n`)
    return INTERRUPTED_EXIT
  } finally {
    view.close()
    ignore()
  }
}

function viewFor({ io, values }: Pick<Invocation, 'io' | 'values'>): JobView {
  if (values.has('json')) return jsonView(io.out, io.err)
  const screen = io.screen()
  if (screen === undefined) return plainView(io.out, io.err)
  return liveView(io.out, { screen: () => io.screen() ?? screen, now: io.now, err: io.err })
}
