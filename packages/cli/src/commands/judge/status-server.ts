import { type Invocation, usageError } from '@parley/command-line'
import { openStatus } from '../../status-server/open-status.ts'
import { relayToSocket } from '../../status-server/relay-to-socket.ts'
import { serveUntilEnd } from './serve-until-end.ts'

/** As long as a compositor waits for a call, and a little for the way. */
const AGENT_CALL_MS = 61 * 60_000

/** The status server on stdin and stdout. */
export const statusServer = async (invocation: Invocation): Promise<number> =>
  serveUntilEnd(await openStatus(invocation), invocation)

/** The mounts of the agent whose engine starts this, on stdin and stdout. */
export async function agentServer(invocation: Invocation): Promise<number> {
  const socketPath = invocation.io.env['PARLEY_AGENT_SOCKET'] ?? ''
  if (socketPath === '') throw usageError('agent-server needs PARLEY_AGENT_SOCKET, which a host sets for the engine of an agent')
  const relay = await relayToSocket({ socketPath, clientName: 'parley-agent-server', callMs: AGENT_CALL_MS }, invocation)
  return serveUntilEnd({ service: relay, close: () => relay.close() }, invocation)
}
