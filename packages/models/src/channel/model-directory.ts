import { type ChannelCheck, type Model, NO_PRICES, ToolError, iso, within } from '@parley/protocol'
import type { ChannelRecord, ModelRecord, Store } from '@parley/store'
import type { Logger } from 'pino'
import type { Sealer } from '../secret/seal.ts'
import { SCRIPT_PRICES } from './changed-prices.ts'
import type { ChannelPlaces, ModelDirectory, ReachableModel, UpstreamAnswer } from './directory.ts'
import { byChannelAndModel, scriptItems, upstreamItems } from './listed-models.ts'
import { noSuchChannel, noSuchModel, notKnownYet } from './model-missing.ts'
import type { ScriptFiles } from './script-files.ts'
import { UpstreamCache } from './upstream-cache.ts'

/** How long a list waits for upstreams. What comes later is there for the next one. */
const PATIENCE_MS = 1_000
/** In one answer; more would not fit into a message. */
const LISTED_MAX = 10_000
const CUT = `not all of its models are listed: ${LISTED_MAX} of all channels are the most`

interface Listed {
  readonly items: readonly Model[]
  readonly check: ChannelCheck
}

/** The models of the database, of scripts, and of the upstreams that can be asked. */
export function openModelDirectory(options: {
  readonly store: Pick<Store, 'channels'>
  readonly sealer: Sealer
  readonly scripts: ScriptFiles
  /** By the channel's name. */
  readonly places?: ReadonlyMap<string, ChannelPlaces>
  readonly log: Logger
  readonly now: () => number
}): ModelDirectory {
  const { store, sealer, scripts, now } = options
  const cache = new UpstreamCache(options)

  const enabled = async (): Promise<readonly ChannelRecord[]> => {
    const channels = await store.channels.list()
    cache.keep(new Set(channels.map(({ name }) => name)))
    return channels.filter((channel) => channel.enabled)
  }

  const ofScript = async (channel: ChannelRecord, records: readonly ModelRecord[], live: boolean): Promise<Listed> => {
    const read = await scripts.read(channel.script ?? '')
    const checked = { channel: channel.name, checked_at: iso(now()) }
    if (read.kind === 'broken') return { items: [], check: { ...checked, ok: false, error: read.error } }
    const record = records.find(({ model }) => model === read.script.model)
    return { items: scriptItems(channel, record, read.script, live), check: { ...checked, ok: true, error: null } }
  }

  const ofUpstream = async (channel: ChannelRecord, records: readonly ModelRecord[]): Promise<Listed> => {
    const answer = await within(cache.answer(channel), PATIENCE_MS)
    const check = answer?.check ?? { channel: channel.name, ok: false, error: 'no answer yet', checked_at: null }
    const named = answer?.check.ok === true ? { named: answer.models } : {}
    return { items: upstreamItems(channel, records, { ...named, remembered: cache.remembered(channel) }), check }
  }

  const list: ModelDirectory['list'] = async (live) => {
    const [channels, models] = await Promise.all([enabled(), store.channels.models()])
    const listed = await Promise.all(
      channels.map(async (channel) => {
        const records = models.filter((record) => record.channel === channel.name)
        if (channel.kind === 'script') return ofScript(channel, records, live)
        return live ? ofUpstream(channel, records) : { items: upstreamItems(channel, records, { remembered: [] }), check: null }
      }),
    )
    const items = listed.flatMap((entry) => entry.items).toSorted(byChannelAndModel)
    const cut = new Set(items.slice(LISTED_MAX).map((item) => item.upstream_channel))
    const checks = live ? listed.flatMap(({ check }) => (check === null ? [] : [check])) : []
    return {
      items: items.slice(0, LISTED_MAX),
      channels: checks.map((check) => (cut.has(check.channel) ? { ...check, error: check.error ?? CUT } : check)),
    }
  }

  const keyOf = ({ name, sealedKey }: ChannelRecord): string | null => {
    if (sealedKey === null) return null
    const key = sealer.open(name, sealedKey)
    if (key !== undefined) return key
    throw new ToolError('unavailable', `the key of channel ${name} was sealed with another PARLEY_SECRET`, {
      field: 'upstream_channel',
      hint: 'an admin gives the key again by channel.set',
    })
  }

  const reach = (channel: ChannelRecord, model: string, record: ModelRecord | undefined): ReachableModel => ({
    channel,
    model,
    apiKey: keyOf(channel),
    prices: record?.prices ?? NO_PRICES,
    contextTokens: record?.contextTokens ?? null,
    script: null,
    places: options.places?.get(channel.name) ?? null,
  })

  /** What is set up in the database, or played from a file; `undefined` when only the upstream can know. */
  const setUp = async (channel: ChannelRecord, model: string): Promise<ReachableModel | 'inactive' | undefined> => {
    const record = await store.channels.model(channel.name, model)
    if (record?.active === false) return 'inactive'
    if (channel.kind !== 'script') return record === undefined ? undefined : reach(channel, model, record)
    const read = await scripts.read(channel.script ?? '')
    if (read.kind === 'broken' || read.script.model !== model) return undefined
    const { script } = read
    return {
      ...reach({ ...channel, wire: script.wire }, model, record),
      prices: SCRIPT_PRICES,
      contextTokens: record?.contextTokens ?? script.context_tokens,
      script,
    }
  }

  return {
    list,
    ask: (channel) => (channel.kind === 'script' ? askScript(channel) : cache.ask(channel)),
    async resolve(model, channelName) {
      const channels = await enabled()
      const wanted = channelName === null || channelName === '' ? channels : channels.filter(({ name }) => name === channelName)
      if (wanted.length === 0 && channelName !== null && channelName !== '') throw noSuchChannel(channelName, channels)
      const unknown: ChannelRecord[] = []
      for (const channel of wanted) {
        const found = await setUp(channel, model)
        if (typeof found === 'object') return found
        if (found === undefined && channel.kind !== 'script') unknown.push(channel)
      }
      const silent: string[] = []
      const answers = await Promise.all(unknown.map((channel) => names(channel, model)))
      for (const [index, channel] of unknown.entries()) {
        if (answers[index] === 'yes') return reach(channel, model, undefined)
        if (answers[index] === 'silent') silent.push(channel.name)
      }
      if (silent.length > 0) throw notKnownYet(model, silent)
      throw noSuchModel(model, channelName, (await list(false)).items)
    },
    close: () => cache.close(),
  }

  async function askScript(channel: ChannelRecord): Promise<UpstreamAnswer> {
    const { items, check } = await ofScript(channel, [], true)
    return { check, models: items.map(({ model }) => model) }
  }

  /** Whether an upstream lists a model; one that did a while ago is believed without being asked again. */
  async function names(channel: ChannelRecord, model: string): Promise<'yes' | 'no' | 'silent'> {
    const answer = within(cache.answer(channel), PATIENCE_MS)
    if (cache.remembered(channel).includes(model)) return 'yes'
    const { check, models } = (await answer) ?? {}
    if (check?.ok !== true) return 'silent'
    return models?.includes(model) === true ? 'yes' : 'no'
  }
}
