import { type JwksOptions, type ServedTool, type SignInRates } from '@parley/access'
import type { Limits } from '@parley/rpc'
import type { GateDefault, RandomBytes, Rate } from '@parley/protocol'
import type { Store } from '@parley/store'
import type { ModelOptions } from '@parley/models'
import type { Logger } from 'pino'
import type { Presets } from './agent/agent-world.ts'
import type { FirstAdmin } from './first-admin.ts'
import type { PageFiles } from './http/page-route.ts'
import type { World } from './world.ts'

export interface GatewayOptions extends ModelOptions {
  readonly store: Store
  /** At least 32 bytes; the same for every gateway of an installation. */
  readonly secret: Uint8Array
  readonly listen: {
    readonly host: string
    readonly port: number
    readonly tls?: { readonly cert: string; readonly key: string }
  }
  /** A socket file for this machine's owner: whoever may open it is an admin. */
  readonly adminSocket?: string
  /** How people reach this gateway, when not by `listen`. Its host may stand in `Host` and `Origin`. */
  readonly publicUrl?: string
  readonly allowedHosts?: readonly string[]
  readonly trustedProxies?: readonly string[]
  readonly signup: boolean
  /** Whether `?token=` works on the WebSocket. */
  readonly queryToken: boolean
  /** One fixed token for all judges, at least 32 characters; and so for the other workers. */
  readonly judgeToken?: string
  readonly hostToken?: string
  readonly executorToken?: string
  /** Where workers reach this very gateway, when not by `listen`. */
  readonly workerUrl?: string
  readonly jwks?: JwksOptions
  readonly firstAdmin: { readonly username: string; readonly password?: string }
  readonly log: Logger
  readonly now: () => number
  readonly random: RandomBytes
  readonly page?: PageFiles
  /** What agents are made from; left out, an empty `default` alone. */
  readonly presets?: Presets
  /** What is decided about a call of an agent that no rule covers, `ask` when left out. */
  readonly gate?: GateDefault
  /** How long a call waits for a person; an hour when left out. */
  readonly gateWaitMs?: number
  readonly version: string
  readonly limits?: GatewayLimits
  /** Tools beside the built-in ones. */
  readonly tools?: readonly ServedTool<World>[]
}

export interface GatewayLimits {
  readonly wire?: Partial<Limits>
  /** Calls that one token may make, over all its connections. */
  readonly calls?: Rate
  readonly signIn?: SignInRates
  /** How often everybody connected is checked against the store, in case the word of a change got lost. */
  readonly recheckMs?: number
  /** How long a judge holds a job without a call. */
  readonly leaseMs?: number
  /** How long a client waits for a host to take its agent, and after how long without one an agent is let go of. */
  readonly wakeMs?: number
  readonly quietMs?: number
}

export interface Gateway {
  readonly url: string
  readonly mcp: string
  readonly ws: string
  /** Who the person that started it signs in as, and how; left out when no admin can sign in. */
  readonly firstAdmin?: FirstAdmin
  /** Sessions and sockets open now. */
  sessions(): number
  /** Says that it is not ready any more, ends streams cleanly, waits for calls under way, writes down what is left. */
  close(graceMs: number): Promise<void>
}

/** Far more than a person or a judge needs, far less than what would starve the others. */
export const DEFAULT_CALLS: Rate = { perSecond: 2_000, burst: 20_000 }
export const DEFAULT_SIGN_IN: SignInRates = {
  perAddress: { perSecond: 0.5, burst: 30 },
  perAccount: { perSecond: 0.1, burst: 10 },
}
