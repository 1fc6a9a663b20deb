import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import type { AccountWorld } from './account/account-world.ts'
import { openRecorder } from './audit/recorder.ts'
import { openOneTimeLinks } from './auth/one-time-link.ts'
import { openPasswords } from './auth/password.ts'
import type { RandomBytes } from './auth/token-text.ts'
import type { ChannelWorld } from './channel/channel-world.ts'
import type { ChannelPlaces } from './channel/directory.ts'
import { openModelDirectory } from './channel/model-directory.ts'
import { type QuotaDefaults, openQuotaBook } from './channel/quota-book.ts'
import { type Scripts, openScriptFiles } from './channel/script-files.ts'
import type { ChannelSeed } from './channel/seed-channels.ts'
import { openCreations } from './blob/inputs-share.ts'
import type { JobWorld } from './job/job-world.ts'
import { openJobWatch } from './job/stream/watch.ts'
import { type ClaimOutcome, openJudgeDesk } from './judge/desk.ts'
import type { JudgeWorld } from './judge/judge-world.ts'
import { SignInLimit, type SignInRates } from './limit/sign-in-limit.ts'
import { NO_SEALER, openSealer } from './secret/seal.ts'
import { serving } from './tool/served-tool.ts'

/** What the tools of every noun work with. One for the whole gateway. */
export interface World extends AccountWorld, ChannelWorld, JobWorld, JudgeWorld {}

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
  /** What the keys of channels are sealed with; without it none can be set or used. */
  readonly channelKey?: Uint8Array
  readonly scripts?: Scripts
  readonly quota?: QuotaDefaults
  /** The channels of the settings. */
  readonly channels?: readonly ChannelSeed[]
}): World {
  const { store, log, now, random, leaseMs, countClaim, channelKey } = options
  const sealer = channelKey === undefined ? NO_SEALER : openSealer(channelKey, random)
  const scripts = openScriptFiles(options.scripts, log)
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
    sealer,
    scripts,
    directory: openModelDirectory({ store, sealer, scripts, places: placesOf(options.channels ?? []), log, now }),
    quotas: openQuotaBook({ store, defaults: options.quota ?? {}, now }),
    signInLimit: new SignInLimit(options.signInRates, now),
    urlFor: options.urlFor ?? options.baseUrl,
    log,
    now,
    random,
  }
}

const placesOf = (channels: readonly ChannelSeed[]): ReadonlyMap<string, ChannelPlaces> =>
  new Map(channels.flatMap(({ name, places }) => (places === undefined ? [] : [[name, places]])))
