import { randomBytes } from 'node:crypto'
import { liveOnStdin } from '../process/lifeline.ts'
import { openHostHere } from './open-host.ts'
import { parseHostPlan } from './plan.ts'

// The host process of `parley up`.

const LAST_RESORT_MS = 9_000

liveOnStdin(
  (line) =>
    openHostHere(parseHostPlan(line), {
      now: Date.now,
      random: randomBytes,
      err: (text) => void process.stderr.write(text),
    }),
  LAST_RESORT_MS,
)
