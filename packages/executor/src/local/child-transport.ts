import { messageOf } from '@parley/protocol/wire'
import { type ClientTransport, stdioTransport } from '@parley/rpc'
import type { Processes, ProcessSpec, RunningProcess } from './processes.ts'

/** What a server gets after its input ended, before it is told and then made to go. */
const STOP_GRACE_MS = 2_000

/** A stdio server, started now. It goes when the transport is closed; a server that ends by itself ends the transport. */
export async function childTransport(
  processes: Processes,
  spec: ProcessSpec,
  err: (text: string) => void,
): Promise<ClientTransport> {
  const child = await processes.start(spec)
  child.stderr.on('data', (chunk: Buffer) => err(chunk.toString('utf8')))
  void child.exited.then(({ code, signal }) => {
    if (code !== 0 && !child.stdin.writableEnded) err(`${spec.command} ended: ${signal ?? `exit code ${code}`}\n`)
  })
  const transport = stdioTransport({ input: child.stdout, output: child.stdin })
  return {
    kind: transport.kind,
    open: async (sink, limits, warn) => {
      const link = await transport.open(sink, limits, warn)
      const close = link.close.bind(link)
      link.close = async () => {
        await close()
        stop(child, err)
      }
      return link
    },
  }
}

/** Nobody waits for it: a server that takes its time must not hold up the one that follows. */
function stop(child: RunningProcess, err: (text: string) => void): void {
  child.stop(STOP_GRACE_MS).catch((error: unknown) => err(`${messageOf(error)}\n`))
}
