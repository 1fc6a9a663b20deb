import { CommandError, type Invocation } from '@parley/command-line'
import { judgePlanOf } from '../../judge-process/judge-plan-of.ts'
import { openJudge } from '../../judge-process/open-judge.ts'
import { judgeMessage } from '../../up/ready-message.ts'

/** What is under way gets this long to end when the judge is told to; then it is given back. */
const GRACE_MS = 20_000
const FORCED_EXIT = 1
const INTERRUPTED_EXIT = 130

/** One judge in this process, until it is told to end: once, it finishes what it has; twice, it gives it back. */
export async function judge(invocation: Invocation): Promise<number> {
  const { io, values } = invocation
  const plan = judgePlanOf(invocation)
  const waiting = new AbortController()
  const asked = Promise.withResolvers<void>()
  let close: ((graceMs: number) => Promise<void>) | undefined
  let times = 0
  const ignore = io.onSignal(() => {
    times += 1
    if (times > 2) process.exit(FORCED_EXIT)
    waiting.abort()
    asked.resolve()
    if (times === 1) io.err('finishing what is under way; once more gives it back\n')
    else close?.(0).catch(() => {})
  })
  try {
    const opened = await openJudge(plan, { ...io, signal: waiting.signal })
    close = (graceMs) => opened.close(graceMs)
    io.out(values.has('json') ? `${JSON.stringify(opened.ready)}\n` : judgeMessage(opened.ready))
    await asked.promise
    await opened.close(times > 1 ? 0 : GRACE_MS)
    return 0
  } catch (error) {
    if (waiting.signal.aborted)
      throw new CommandError('interrupted', 'ended before the gateway was there', { exitCode: INTERRUPTED_EXIT, cause: error })
    throw error
  } finally {
    ignore()
  }
}
