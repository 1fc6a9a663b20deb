import { serveStdio } from '@parley/rpc'
import type { Invocation } from '@parley/command-line'
import type { OpenStatus } from '../../status-server/open-status.ts'

/** After the input ended, whatever still runs may take this long to end. */
const END_MS = 1_500

/** A service on stdin and stdout, until stdin ends. */
export async function serveUntilEnd(served: OpenStatus, { io }: Pick<Invocation, 'io'>): Promise<number> {
  const stop = io.onSignal(() => io.stdin.destroy())
  await serveStdio({
    input: io.stdin,
    output: process.stdout,
    service: served.service,
    warn: (message) => io.err(`${message}\n`),
  })
  setTimeout(() => process.exit(0), END_MS).unref()
  await served.close()
  stop()
  return 0
}
