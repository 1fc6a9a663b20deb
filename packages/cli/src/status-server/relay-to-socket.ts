import { openRelay, type Relay, httpTransport } from '@parley/rpc'
import type { Invocation } from '@parley/command-line'
import { ownVersion } from '../version.ts'

export interface SocketRelayOptions {
  readonly socketPath: string
  readonly clientName: string
  /** The longest that a call may take. */
  readonly callMs: number
}

/** A process on this very machine answers at once, or not at all. */
const HANDSHAKE_MS = 5_000

/** A service that another process of ours serves on a socket, for whoever cannot reach more than that. */
export function relayToSocket(
  { socketPath, clientName, callMs }: SocketRelayOptions,
  { io }: Pick<Invocation, 'io'>,
): Promise<Relay> {
  return openRelay({
    connect: async () => httpTransport({ url: 'http://localhost/mcp', socketPath }),
    clientInfo: { name: clientName, version: ownVersion() },
    era: 'legacy',
    limits: { callMs },
    clientLimits: { requestTimeoutMs: HANDSHAKE_MS },
    log: (level, message) => io.err(`${level}: ${message}\n`),
  })
}
