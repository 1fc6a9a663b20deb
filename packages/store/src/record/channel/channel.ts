import type { ChannelKind, ModelPrices, ModelWire } from '@parley/protocol'

/** A way to models. */
export interface ChannelRecord {
  readonly name: string
  readonly displayName: string
  readonly kind: ChannelKind
  readonly baseUrl: string | null
  readonly wire: ModelWire
  readonly modelsPath: string
  readonly script: string | null
  /** The upstream key as the gateway sealed it: this room cannot open it. */
  readonly sealedKey: string | null
  /** What may be shown of the key. */
  readonly keyHint: string | null
  readonly enabled: boolean
  readonly source: 'settings' | 'admin'
  readonly createdAt: number
  readonly updatedAt: number
}

/** One model of one channel. */
export interface ModelRecord {
  readonly channel: string
  readonly model: string
  readonly displayName: string
  readonly contextTokens: number | null
  readonly prices: ModelPrices
  readonly active: boolean
  readonly source: 'settings' | 'admin'
  readonly createdAt: number
  readonly updatedAt: number
}

/** Channels and their models. Every change publishes `models`. */
export interface Channels {
  /** Adds or replaces, whole; `createdAt` stays. Throws `Conflict` for a new one when there are `most` of them. */
  put(channel: Omit<ChannelRecord, 'createdAt' | 'updatedAt'>, bound?: { readonly most?: number }): Promise<ChannelRecord>
  byName(name: string): Promise<ChannelRecord | undefined>
  /** By name. */
  list(): Promise<readonly ChannelRecord[]>
  /** Removes it with its models; answers their names, `undefined` when there is no such channel. */
  delete(name: string): Promise<readonly string[] | undefined>
  /** Adds or replaces; throws `NotFound` when there is no such channel, `Conflict` for a new one when there are `most` of them. */
  putModel(model: Omit<ModelRecord, 'createdAt' | 'updatedAt'>, bound?: { readonly most?: number }): Promise<ModelRecord>
  model(channel: string, model: string): Promise<ModelRecord | undefined>
  /** By channel and model. */
  models(): Promise<readonly ModelRecord[]>
  deleteModel(channel: string, model: string): Promise<boolean>
}
