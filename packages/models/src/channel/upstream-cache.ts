import type { ChannelRecord } from '@parley/store'
import type { Logger } from 'pino'
import { type HttpFetcher, openHttpFetcher } from '@parley/fetch'
import { iso } from '@parley/protocol'
import type { Sealer } from '../secret/seal.ts'
import type { UpstreamAnswer } from './directory.ts'
import { type UpstreamModels, askModels } from './upstream-models.ts'
import { upstreamUrl } from './upstream-url.ts'

const LISTED_FRESH_MS = 60_000
const FAILED_FRESH_MS = 10_000
/** How long a list still says what there is after its upstream went silent. */
const REMEMBERED_MS = 600_000
const CONNECT_MS = 3_000
const CONNECTIONS_PER_HOST = 4

interface Entry {
  /** Another address or key is another upstream. */
  readonly of: string
  last?: { readonly answer: UpstreamAnswer; readonly at: number }
  good?: { readonly models: readonly string[]; readonly at: number }
  flight?: Promise<UpstreamAnswer>
}

/** What upstreams list: asked once at a time each, and remembered for a minute, a failure for ten seconds. */
export class UpstreamCache {
  readonly #entries = new Map<string, Entry>()
  readonly #http: HttpFetcher = openHttpFetcher({ connectMs: CONNECT_MS, connections: CONNECTIONS_PER_HOST })
  readonly #closing = new AbortController()
  readonly #sealer: Sealer
  readonly #log: Logger
  readonly #now: () => number

  constructor(parts: { readonly sealer: Sealer; readonly log: Logger; readonly now: () => number }) {
    this.#sealer = parts.sealer
    this.#log = parts.log
    this.#now = parts.now
  }

  /** The last answer while it is fresh, else the next one. */
  answer(channel: ChannelRecord): UpstreamAnswer | Promise<UpstreamAnswer> {
    const { last } = this.#entryOf(channel)
    if (last !== undefined) {
      const age = this.#now() - last.at
      if (age >= 0 && age < (last.answer.check.ok ? LISTED_FRESH_MS : FAILED_FRESH_MS)) return last.answer
    }
    return this.ask(channel)
  }

  /** The next answer. Whoever asks while one is on its way gets that one. */
  ask(channel: ChannelRecord): Promise<UpstreamAnswer> {
    const entry = this.#entryOf(channel)
    entry.flight ??= this.#fetch(channel, entry).finally(() => delete entry.flight)
    return entry.flight
  }

  /** What was listed last, if that is not too long ago. */
  remembered(channel: ChannelRecord): readonly string[] {
    const { good } = this.#entryOf(channel)
    return good === undefined || this.#now() - good.at > REMEMBERED_MS ? [] : good.models
  }

  /** Forgets channels that are gone. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#entries.keys()) if (!names.has(name)) this.#entries.delete(name)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.allSettled([...this.#entries.values()].flatMap(({ flight }) => flight ?? []))
    await this.#http.close()
  }

  async #fetch(channel: ChannelRecord, entry: Entry): Promise<UpstreamAnswer> {
    const outcome = await this.#listOf(channel).catch((error: unknown): UpstreamModels => {
      // Nobody may be waiting any more, so that nobody else would hear of it.
      this.#log.error({ err: error, channel: channel.name }, 'asking a channel for its models failed')
      return { kind: 'failed', fault: 'upstream_unavailable', message: 'something went wrong on our side; the log says what' }
    })
    const at = this.#now()
    const checked = { channel: channel.name, checked_at: iso(at) }
    let answer: UpstreamAnswer
    if (outcome.kind === 'listed') {
      answer = { check: { ...checked, ok: true, error: outcome.note }, models: outcome.models }
      entry.good = { models: outcome.models, at }
    } else {
      const error = `${outcome.fault}: ${outcome.message}`
      answer = { check: { ...checked, ok: false, error }, models: [] }
      if (!this.#closing.signal.aborted) this.#log.warn({ channel: channel.name, error }, 'a channel does not list its models')
    }
    entry.last = { answer, at }
    return answer
  }

  async #listOf({ name, baseUrl, modelsPath, sealedKey }: ChannelRecord): Promise<UpstreamModels> {
    if (baseUrl === null) return { kind: 'failed', fault: 'upstream_unavailable', message: 'the channel has no base_url' }
    const apiKey = sealedKey === null ? null : this.#sealer.open(name, sealedKey)
    if (apiKey === undefined)
      return { kind: 'failed', fault: 'key_unreadable', message: 'its key was sealed with another PARLEY_SECRET; set it anew' }
    return askModels(this.#http, { url: upstreamUrl(baseUrl, modelsPath), apiKey, signal: this.#closing.signal })
  }

  #entryOf({ name, baseUrl, modelsPath, sealedKey }: ChannelRecord): Entry {
    const of = JSON.stringify([baseUrl, modelsPath, sealedKey])
    const there = this.#entries.get(name)
    if (there?.of === of) return there
    const entry: Entry = { of }
    this.#entries.set(name, entry)
    return entry
  }
}
