import type { JsonObject } from '@parley/protocol'
import type { ClientLimits } from '../client/client-limits.ts'
import type { EraChoice } from '../client/negotiate.ts'
import type { ClientTransport } from '../client/link/client-link.ts'
import type { Era } from '../revision.ts'
import type { Call, Caller, Implementation, Service } from '../service.ts'
import { learnLegacy } from './learn-legacy.ts'
import { DEFAULT_RELAY_LIMITS, type RelayLimits } from './relay-limits.ts'
import { ServerRelay } from './server-relay.ts'
import type { RelayParts } from './upstream.ts'

export interface RelayOptions {
  /** Makes a way to the server that is not open yet: a new child, a new dial. Called again after one ended. */
  readonly connect: (need: { readonly capabilities: JsonObject }) => Promise<ClientTransport>
  /** Who we say we are upstream. */
  readonly clientInfo: Implementation
  /** The era that is spoken upstream, whatever the clients speak. `auto`, the default: each client's own where the server has it. */
  readonly era?: EraChoice
  /** What is added to the `_meta` of each request upstream, for a server of ours that is to know whom it is made for. Modern era alone. */
  readonly stamp?: (call: Call) => JsonObject
  readonly limits?: Partial<RelayLimits>
  readonly clientLimits?: Partial<ClientLimits>
  /** The reason with which the server ends connections as it should: nobody is warned of that. */
  readonly ordinaryEnd?: string
  readonly log?: (level: 'info' | 'warn', message: string) => void
}

/** A service whose answers come from another server. */
export interface Relay<C extends Caller = Caller> extends Service<C> {
  /** Connections upstream that are open or being opened, the shared ones included. */
  upstreams(): number
  /** Whether the connection upstream that its clients share is open now. */
  isConnected(): boolean
  /** Dials where it is not, as a call would. */
  connect(): Promise<void>
  close(): Promise<void>
}

/**
 * Connects to the server, to learn what it is in each era, and serves it unprefixed to any number of clients. A server that
 * speaks both is two servers to its clients: what it asks and tells in one era need not exist in the other.
 */
export async function openRelay<C extends Caller = Caller>(options: RelayOptions): Promise<Relay<C>> {
  const choice = options.era ?? 'auto'
  const first = new ServerRelay<C>(partsOf(options, choice))
  const { era } = await first.open()
  if (choice !== 'auto' || era === 'legacy') return first
  const found = await learnLegacy(partsOf(options, 'legacy'))
  if (found === undefined) return first
  const legacy = new ServerRelay<C>(partsOf(options, 'legacy'))
  legacy.learned(found)
  return inBothEras(first, legacy)
}

/** One connection carries the calls of every client that shares it. */
const SHARED_PENDING_REQUESTS = 8_192

/** Each side finds out by itself when the server was replaced by one of another era. */
function partsOf(options: RelayOptions, era: EraChoice): RelayParts {
  return {
    connect: options.connect,
    clientInfo: options.clientInfo,
    limits: { ...DEFAULT_RELAY_LIMITS, ...options.limits },
    clientLimits: { pendingRequests: SHARED_PENDING_REQUESTS, ...options.clientLimits },
    log: options.log ?? (() => {}),
    ...(options.ordinaryEnd === undefined ? {} : { ordinaryEnd: options.ordinaryEnd }),
    ...(options.stamp === undefined ? {} : { stamp: options.stamp }),
    isChosen: options.era !== undefined && options.era !== 'auto',
    spoken: { era },
  }
}

function inBothEras<C extends Caller>(modern: ServerRelay<C>, legacy: ServerRelay<C>): Relay<C> {
  return {
    info: modern.info,
    capabilities: modern.capabilities,
    instructions: modern.instructions,
    call: (method, params, call) => (call.era === 'legacy' ? legacy : modern).call(method, params, call),
    forEra: (era: Era) => (era === 'legacy' ? legacy : modern),
    isConnected: () => modern.isConnected() && legacy.isConnected(),
    connect: async () => {
      await Promise.all([modern.connect(), legacy.connect()])
    },
    upstreams: () => modern.upstreams() + legacy.upstreams(),
    close: async () => {
      await Promise.all([modern.close(), legacy.close()])
    },
  }
}
