import type { RandomBytes } from '@parley/protocol'
import type { Store } from '@parley/store'
import type { Logger } from 'pino'
import type { ModelDirectory } from './channel/directory.ts'
import { openModelDirectory } from './channel/model-directory.ts'
import { type ScriptFiles, type Scripts, openScriptFiles } from './channel/script-files.ts'
import type { ChannelSeed } from './channel/seed-channels.ts'
import { type QuotaBook, type QuotaDefaults, openQuotaBook } from './quota/quota-book.ts'
import { NO_SEALER, type Sealer, openSealer } from './secret/seal.ts'

/** The models of an installation: which there are, how they are reached, and what people may use of them. */
export interface Models {
  readonly directory: ModelDirectory
  readonly quotas: QuotaBook
  readonly sealer: Sealer
  readonly scripts: ScriptFiles
}

/** What an installation says about its models. */
export interface ModelOptions {
  /** Channels to models from the settings: put in place at every start, unless an admin changed them since. */
  readonly channels?: readonly ChannelSeed[]
  /** Where scripts of `script` channels are found. */
  readonly scripts?: Scripts
  /** What a person may use who has no bound of their own; left out: no bound. */
  readonly quota?: QuotaDefaults
}

/** Without the key that those of channels are sealed with, none of them can be set or used. */
export function openModels(
  parts: { readonly store: Store; readonly log: Logger; readonly now: () => number; readonly random: RandomBytes },
  settings: ModelOptions,
  channelKey?: Uint8Array,
): Models {
  const sealer = channelKey === undefined ? NO_SEALER : openSealer(channelKey, parts.random)
  const scripts = openScriptFiles(settings.scripts, parts.log)
  const places = new Map((settings.channels ?? []).flatMap((seed) => (seed.places ? [[seed.name, seed.places]] : [])))
  return {
    sealer,
    scripts,
    directory: openModelDirectory({ ...parts, sealer, scripts, places }),
    quotas: openQuotaBook({ ...parts, defaults: settings.quota ?? {} }),
  }
}
