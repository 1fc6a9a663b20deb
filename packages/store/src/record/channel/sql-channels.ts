import { type Database, type Transaction, Conflict, NotFound, integer, text } from '@parley/database'
import { topicSignal } from '../../topic/signal-topics.ts'
import type { ChannelRecord, Channels, ModelRecord } from './channel.ts'
import { channelValues, modelValues, toChannel, toModel } from './row.ts'
import * as sql from './statements.ts'

/** Far more than an installation needs: whoever reaches these adds them in a loop. */
const MAX_CHANNELS = 1_000
const MAX_MODELS = 10_000
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
      await tx.get(sql.LOCK_COUNT, [])
      if ((await tx.get(sql.CHANNEL, [channel.name])) === undefined) await checkCount(tx, 'channels', most)
      const row = await tx.get(sql.PUT, [...values, this.#now()])
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
      if ((await tx.get(sql.CHANNEL_FOR_DELETE, [name])) === undefined) return undefined
      const rows = await tx.all('SELECT model FROM models WHERE channel = $1 ORDER BY model', [name])
      await tx.run('DELETE FROM channels WHERE name = $1', [name])
      tx.signal(TOPIC)
      return rows.map((row) => text(row, 'model'))
    })
  }

  async putModel(model: NewModel, { most = MAX_MODELS }: Bound = {}): Promise<ModelRecord> {
    const values = modelValues(model)
    return this.#db.transaction(async (tx) => {
      await tx.get(sql.LOCK_COUNT, [])
      if ((await tx.get(sql.CHANNEL_FOR_MODEL, [model.channel])) === undefined) throw new NotFound(`channel ${model.channel}`)
      if ((await tx.get(sql.MODEL, [model.channel, model.model])) === undefined) await checkCount(tx, 'models', most)
      const row = await tx.get(sql.PUT_MODEL, [...values, this.#now()])
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
