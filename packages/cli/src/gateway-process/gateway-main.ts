import { randomBytes } from 'node:crypto'
import { liveOnStdin } from '../process/lifeline.ts'
import { parsePlan } from './plan.ts'
import { serveGateway } from './serve-gateway.ts'

// The gateway process of `parley up`.

const GRACE_MS = 5_000
const LAST_RESORT_MS = 8_000

liveOnStdin(async (line) => {
  const served = await serveGateway(parsePlan(line), {
    random: randomBytes,
    err: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
  })
  return { ready: served.ready, close: () => served.close(GRACE_MS) }
}, LAST_RESORT_MS)
