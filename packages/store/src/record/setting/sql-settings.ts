import { type Database, type Sql, text } from '@parley/database'
import { checkName } from '../../limits.ts'
import type { StoredSettings } from './setting.ts'

/** Facts about the whole installation. */
export class SqlSettings implements StoredSettings {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async get(key: string): Promise<string | undefined> {
    const row = await this.#db.get('SELECT value FROM settings WHERE key = $1', [key])
    return row && text(row, 'value')
  }

  async setOnce(key: string, value: string): Promise<string> {
    checkName('key', key)
    const row = await this.#db.get(SET_ONCE, [key, value])
    return row === undefined ? value : text(row, 'value')
  }
}

/** Writes the old value over itself, because a statement that does nothing would answer nothing. */
const SET_ONCE: Sql = `INSERT INTO settings (key, value) VALUES ($1, $2)
  ON CONFLICT (key) DO UPDATE SET value = settings.value RETURNING value`
