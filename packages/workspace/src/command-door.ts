import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Caller, Limits, Service } from '@parley/rpc'
import { type Admission, openTokenServer } from '@parley/rpc'
import { checkSocketPath } from './service-socket.ts'

/** What one command shows to be let in; it ends with the command. */
export interface CommandPass {
  readonly token: string
  /** Ends its connections at once, and what was called on them. */
  end(): void
}

/** The way from commands in boxes to a service of ours. */
export interface CommandDoor {
  readonly socketPath: string
  /** For one command. */
  pass(): CommandPass
  /** What is held for commands, at this moment. */
  holds(): { readonly connections: number; readonly waiting: number }
  close(): Promise<void>
}

const TOKEN_BYTES = 32
const MIB = 1024 * 1024
/** A command asks for a few things at a time; but whatever it starts may dial. */
const DOOR_LIMITS: Partial<Limits> = {
  inFlightRequests: 32,
  callsPerCaller: 64,
  linksPerCaller: 64,
  messageBytes: 2 * MIB,
  bodyBytesPerCaller: 16 * MIB,
  bodyBytes: 16 * MIB,
  bodyBytesKept: 0,
  streamBufferBytes: MIB,
}

/** Opens it on a socket file. Its folder says who may dial. */
export async function openCommandDoor({
  service,
  caller,
  socketPath,
}: {
  readonly service: Service
  readonly caller: Caller
  readonly socketPath: string
}): Promise<CommandDoor> {
  checkSocketPath(socketPath)
  const passes = new Map<Buffer, Admission>()
  const server = await openTokenServer({
    socketPath,
    service,
    caller,
    admit: (token) => admissionOf(passes, token),
    limits: DOOR_LIMITS,
  })
  return {
    socketPath,
    pass: () => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      const ended = new AbortController()
      const digest = digestOf(token)
      passes.set(digest, { signal: ended.signal })
      const end = (): void => {
        passes.delete(digest)
        ended.abort()
      }
      return { token, end }
    },
    holds: () => server.holds(),
    close: () => server.close(),
  }
}

/** Every token is compared, and each takes the same time: how long it took tells nothing. */
function admissionOf(passes: ReadonlyMap<Buffer, Admission>, shown: string): Admission | undefined {
  const digest = digestOf(shown)
  let found: Admission | undefined
  for (const [known, admission] of passes) if (timingSafeEqual(known, digest)) found = admission
  return found
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()
