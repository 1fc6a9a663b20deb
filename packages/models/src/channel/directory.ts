import type { ChannelCheck, Model, ModelPrices, ModelScript } from '@parley/protocol'
import type { ChannelRecord } from '@parley/store'

/** A model that can be asked: which channel, at what prices, with which key. */
export interface ReachableModel {
  /** Of a `script` channel the wire is the script's. */
  readonly channel: ChannelRecord
  readonly model: string
  /** Opened; null when the channel has none. It leaves the gateway towards its channel alone. */
  readonly apiKey: string | null
  readonly prices: ModelPrices
  readonly contextTokens: number | null
  /** For a `script` channel. */
  readonly script: ModelScript | null
  /** Where the settings have what they made the channel of; null when they made none of that name. */
  readonly places: ChannelPlaces | null
}

/** Names of settings, for people who must change them. */
export interface ChannelPlaces {
  readonly key: string
  readonly baseUrl: string
}

/** What an upstream named when it was asked. */
export interface UpstreamAnswer {
  readonly check: ChannelCheck
  readonly models: readonly string[]
}

/** Which models there are and how they are reached. */
export interface ModelDirectory {
  /** With `live` the upstreams are asked; one that takes longer than a second is named as such and asked on behind. */
  list(live: boolean): Promise<{ readonly items: readonly Model[]; readonly channels: readonly ChannelCheck[] }>
  /**
   * What a job means by a model and a channel; without a channel the first enabled one (by name) that it is set up for, then
   * the first whose upstream lists it. Throws `ToolError` `not_found` at `model` or `upstream_channel` with those there are in
   * the hint, `unavailable` when an upstream that may have it cannot be asked or the channel's key cannot be opened.
   */
  resolve(model: string, channel: string | null): Promise<ReachableModel>
  /** What a channel's upstream names now, however long it takes (three seconds at most). */
  ask(channel: ChannelRecord): Promise<UpstreamAnswer>
  close(): Promise<void>
}
