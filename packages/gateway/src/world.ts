import { openOneTimeLinks, openPasswords, openRecorder, serving, SignInLimit, type SignInRates } from '@parley/access'
import type { Store } from '@parley/store'
import { type ModelOptions, NO_SEALER, openModels, openSealer } from '@parley/models'
import { APPROVAL_LIMITS, type GateDefault, Preset, type RandomBytes } from '@parley/protocol'
import type { Logger } from 'pino'
import type { AccountWorld } from './account/account-world.ts'
import type { AgentWorld, Presets } from './agent/agent-world.ts'
import { HostControls } from './agent/host-controls.ts'
import { CallChain } from '@parley/rulebook'
import type { ChannelWorld } from './channel/channel-world.ts'
import { openCreations } from './blob/inputs-share.ts'
import type { JobWorld } from './job/job-world.ts'
import { openJobWatch } from './job/stream/watch.ts'
import { type ClaimOutcome, openJudgeDesk } from './judge/desk.ts'
import type { JudgeWorld } from './judge/judge-world.ts'
import { AnnouncedGateways } from './worker/announced-gateways.ts'
import { LinkedWorkers } from './worker/linked-workers.ts'
import type { WorkerWorld } from './worker/worker-world.ts'

/** What the tools of every noun work with. One for the whole gateway. */
export interface World extends AccountWorld, AgentWorld, ChannelWorld, JobWorld, JudgeWorld, WorkerWorld {}

/** For tools that come from outside of the gateway: they may use all of it. */
export const serveTool = serving<World>()

/** Puts together what the tools work with, for a gateway and for a store without one. */
export function openWorld(options: {
  readonly store: Store
  readonly log: Logger
  readonly now: () => number
  readonly random: RandomBytes
  readonly signInRates: SignInRates
  /** Where people reach us; asked when a link is made, because a port may be known only after listening. */
  readonly baseUrl: () => string
  /** The same for somebody who called us by another name. */
  readonly urlFor?: (host: string | undefined) => string
  /** How long a judge holds a job without a call, and who counts what becomes of claims. */
  readonly leaseMs?: number
  readonly countClaim?: (outcome: ClaimOutcome) => void
  readonly models?: ModelOptions
  /** What the keys of channels are sealed with. */
  readonly channelKey?: Uint8Array
  /** What the specifications of mounts are sealed with, what agents are made from, and what the gate answers. */
  readonly agents?: {
    readonly mountKey?: Uint8Array
    /** What the logs of their calls are chained with. */
    readonly callKey?: Uint8Array
    readonly presets?: Presets
    readonly gate?: GateDefault
    readonly gateWaitMs?: number
    readonly installation?: string
  }
}): World {
  const { store, log, now, random, leaseMs, countClaim, agents = {} } = options
  const desk = openJudgeDesk({ store, log, now, ...(leaseMs && { leaseMs }), ...(countClaim && { count: countClaim }) })
  return {
    store,
    audit: openRecorder({ audit: store.audit, log, now }),
    links: openOneTimeLinks({ signIns: store.signIns, baseUrl: options.baseUrl, now, random }),
    passwords: openPasswords(random),
    creations: openCreations(),
    watch: openJobWatch({ store, here: desk.here, log }),
    desk,
    here: desk.here,
    workers: new LinkedWorkers(store, log),
    gateways: new AnnouncedGateways({ gateways: store.gateways, log, now, random }),
    hostControls: new HostControls(store, log),
    presets: agents.presets ?? (() => Promise.resolve(new Map([['default', Preset.parse({})]]))),
    mountSealer: agents.mountKey === undefined ? NO_SEALER : openSealer(agents.mountKey, random),
    callChain: agents.callKey === undefined ? null : new CallChain(agents.callKey),
    gate: agents.gate ?? 'ask',
    gateWaitMs: agents.gateWaitMs ?? APPROVAL_LIMITS.ttlMs,
    installation: agents.installation ?? '',
    ...openModels({ store, log, now, random }, options.models ?? {}, options.channelKey),
    signInLimit: new SignInLimit(options.signInRates, now),
    urlFor: options.urlFor ?? options.baseUrl,
    log,
    now,
    random,
  }
}
