import { randomBytes } from 'node:crypto'
import { liveOnStdin } from '../process/lifeline.ts'
import { openJudge } from './open-judge.ts'
import { parseJudgePlan } from './plan.ts'

// The judge process of `parley up`.

/** What is nearly done may end; the rest is given back. */
const GRACE_MS = 2_000
const LAST_RESORT_MS = 9_000

liveOnStdin(async (line, signal) => {
  const judge = await openJudge(parseJudgePlan(line), {
    now: Date.now,
    random: randomBytes,
    err: (text) => void process.stderr.write(text),
    signal,
  })
  return { ready: judge.ready, close: () => judge.close(GRACE_MS) }
}, LAST_RESORT_MS)
