import { serveStdio } from '@parley/rpc'
import type { Invocation } from '@parley/command-line'
import { openStatus } from '../../status-server/open-status.ts'

/** After the input ended, whatever still runs may take this long to end. */
const END_MS = 1_500

/** The status server on stdin and stdout, until stdin ends. */
export async function statusServer(invocation: Invocation): Promise<number> {
  const { io } = invocation
  const status = await openStatus(invocation)
  const stop = io.onSignal(() => io.stdin.destroy())
  await serveStdio({
    input: io.stdin,
    output: process.stdout,
    service: status.service,
    warn: (message) => io.err(`${message}\n`),
  })
  setTimeout(() => process.exit(0), END_MS).unref()
  await status.close()
  stop()
  return 0
}
