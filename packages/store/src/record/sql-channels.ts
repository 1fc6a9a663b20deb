import { ChannelKind, ModelPrices, ModelWire } from '@parley/protocol'
import { flag, integer, integerOrNull, text, textOrNull } from '../database/column.ts'
import type { Database, Row, Sql, Transaction } from '../database/database.ts'
import { Conflict, NotFound } from '../errors.ts'
import { checkInteger, checkName, checkText } from '../limits.ts'
import { topicSignal } from '../topic/signal-topics.ts'
import type { ChannelRecord, Channels, ModelRecord } from './channel.ts'
import { fromJson, toJson } from './json-column.ts'

/** An installation has a handful; past these somebody adds them in a loop. */
const MAX_CHANNELS = 1_000
const MAX_MODELS = 10_000
/** Addresses, sealed keys and names for people. */
const MAX_TEXT_BYTES = 16 * 1024
const TOPIC = topicSignal('models')

type NewChannel = Parameters<Channels['put']>[0]
type NewModel = Parameters<Channels['putModel']>[0]
type Bound = NonNullable<Parameters<Channels['put']>[1]>

/** Ways to models, each with the models it leads to. */
export class SqlChannels implements Channels {
  readonly #db: Database
  readonly #now: () => number

  constructor(db: Database, now: () => number) {
    this.#db = db
    this.#now = now
  }

  async put(channel: NewChannel, { most = MAX_CHANNELS }: Bound = {}): Promise<ChannelRecord> {
    const values = channelValues(channel)
    return this.#db.transaction(async (tx) => {
      await tx.get(LOCK_COUNT, [])
      if ((await tx.get(CHANNEL, [channel.name])) === undefined) await checkCount(tx, 'channels', most)
      const row = await tx.get(PUT, [...values, this.#now()])
      tx.signal(TOPIC)
      return written(toChannel(row))
    })
  }

  async byName(name: string): Promise<ChannelRecord | undefined> {
    return toChannel(await this.#db.get('SELECT * FROM channels WHERE name = $1', [name]))
  }

  async list(): Promise<readonly ChannelRecord[]> {
    const rows = await this.#db.all('SELECT * FROM channels ORDER BY name LIMIT $1', [MAX_CHANNELS])
    return rows.flatMap((row) => toChannel(row) ?? [])
  }

  async delete(name: string): Promise<readonly string[] | undefined> {
    return this.#db.transaction(async (tx) => {
      // Nobody adds a model to it between the look at them and the end.
      if ((await tx.get(CHANNEL_FOR_DELETE, [name])) === undefined) return undefined
      const rows = await tx.all('SELECT model FROM models WHERE channel = $1 ORDER BY model', [name])
      await tx.run('DELETE FROM channels WHERE name = $1', [name])
      tx.signal(TOPIC)
      return rows.map((row) => text(row, 'model'))
    })
  }

  async putModel(model: NewModel, { most = MAX_MODELS }: Bound = {}): Promise<ModelRecord> {
    const values = modelValues(model)
    return this.#db.transaction(async (tx) => {
      await tx.get(LOCK_COUNT, [])
      if ((await tx.get(CHANNEL_FOR_MODEL, [model.channel])) === undefined) throw new NotFound(`channel ${model.channel}`)
      if ((await tx.get(MODEL, [model.channel, model.model])) === undefined) await checkCount(tx, 'models', most)
      const row = await tx.get(PUT_MODEL, [...values, this.#now()])
      tx.signal(TOPIC)
      return written(toModel(row))
    })
  }

  async model(channel: string, model: string): Promise<ModelRecord | undefined> {
    return toModel(await this.#db.get('SELECT * FROM models WHERE channel = $1 AND model = $2', [channel, model]))
  }

  async models(): Promise<readonly ModelRecord[]> {
    const rows = await this.#db.all('SELECT * FROM models ORDER BY channel, model LIMIT $1', [MAX_MODELS])
    return rows.flatMap((row) => toModel(row) ?? [])
  }

  async deleteModel(channel: string, model: string): Promise<boolean> {
    return (await this.#db.change('DELETE FROM models WHERE channel = $1 AND model = $2', [channel, model], TOPIC)) > 0
  }
}

async function checkCount(tx: Transaction, table: 'channels' | 'models', most: number): Promise<void> {
  const row = await tx.get(`SELECT count(*) AS rows FROM ${table}`, [])
  if (row !== undefined && integer(row, 'rows') >= most) throw new Conflict(`there are ${most} ${table} already`)
}

function written<T>(record: T | undefined): T {
  if (record === undefined) throw new TypeError('a row vanished inside a transaction')
  return record
}

function channelValues(channel: NewChannel) {
  const { name, displayName, kind, baseUrl, wire, modelsPath, script, sealedKey, keyHint, enabled, source } = channel
  checkName('name', name)
  for (const [field, value] of Object.entries({ displayName, baseUrl, modelsPath, script, sealedKey, keyHint })) {
    if (value !== null) checkText(field, value, MAX_TEXT_BYTES)
  }
  return [name, displayName, kind, baseUrl, wire, modelsPath, script, sealedKey, keyHint, enabled ? 1 : 0, source]
}

function modelValues({ channel, model, displayName, contextTokens, prices, active, source }: NewModel) {
  checkName('channel', channel)
  checkName('model', model)
  checkText('displayName', displayName, MAX_TEXT_BYTES)
  if (contextTokens !== null) checkInteger('contextTokens', contextTokens, 0)
  return [channel, model, displayName, contextTokens, toJson('prices', ModelPrices, prices), active ? 1 : 0, source]
}

const PUT: Sql = `INSERT INTO channels (name, display_name, kind, base_url, wire, models_path, script, sealed_key, key_hint, enabled,
    source, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
  ON CONFLICT (name) DO UPDATE SET display_name = excluded.display_name, kind = excluded.kind, base_url = excluded.base_url,
    wire = excluded.wire, models_path = excluded.models_path, script = excluded.script, sealed_key = excluded.sealed_key,
    key_hint = excluded.key_hint, enabled = excluded.enabled, source = excluded.source, updated_at = excluded.updated_at
  RETURNING *`
const PUT_MODEL: Sql = `INSERT INTO models (channel, model, display_name, context_tokens, prices, active, source, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
  ON CONFLICT (channel, model) DO UPDATE SET display_name = excluded.display_name, context_tokens = excluded.context_tokens,
    prices = excluded.prices, active = excluded.active, source = excluded.source, updated_at = excluded.updated_at
  RETURNING *`
/** Whoever adds one waits for the one before, so that each is counted. Taken before any row is locked. */
const LOCK_COUNT: Sql = { sqlite: 'SELECT 1 AS one', postgres: 'SELECT pg_advisory_xact_lock(7404, 1)' }
const MODEL = 'SELECT 1 AS one FROM models WHERE channel = $1 AND model = $2'
const CHANNEL = 'SELECT 1 AS one FROM channels WHERE name = $1'
const CHANNEL_FOR_DELETE: Sql = { sqlite: CHANNEL, postgres: `${CHANNEL} FOR UPDATE` }
const CHANNEL_FOR_MODEL: Sql = { sqlite: CHANNEL, postgres: `${CHANNEL} FOR KEY SHARE` }

export function toChannel(row: Row | undefined): ChannelRecord | undefined {
  return (
    row && {
      name: text(row, 'name'),
      displayName: text(row, 'display_name'),
      kind: ChannelKind.parse(text(row, 'kind')),
      baseUrl: textOrNull(row, 'base_url'),
      wire: ModelWire.parse(text(row, 'wire')),
      modelsPath: text(row, 'models_path'),
      script: textOrNull(row, 'script'),
      sealedKey: textOrNull(row, 'sealed_key'),
      keyHint: textOrNull(row, 'key_hint'),
      enabled: flag(row, 'enabled'),
      source: toSource(text(row, 'source')),
      createdAt: integer(row, 'created_at'),
      updatedAt: integer(row, 'updated_at'),
    }
  )
}

export function toModel(row: Row | undefined): ModelRecord | undefined {
  const prices = row && fromJson(ModelPrices, text(row, 'prices'))
  if (row === undefined || prices === null || prices === undefined) return undefined
  return {
    channel: text(row, 'channel'),
    model: text(row, 'model'),
    displayName: text(row, 'display_name'),
    contextTokens: integerOrNull(row, 'context_tokens'),
    prices,
    active: flag(row, 'active'),
    source: toSource(text(row, 'source')),
    createdAt: integer(row, 'created_at'),
    updatedAt: integer(row, 'updated_at'),
  }
}

function toSource(value: string): ChannelRecord['source'] {
  if (value === 'settings' || value === 'admin') return value
  throw new TypeError(`a channel or model comes from ${value}`)
}
