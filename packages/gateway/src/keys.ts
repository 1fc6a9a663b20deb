import { GatewayRefused } from '@parley/access'
import { hkdfSync } from 'node:crypto'
import type { Store, StoredSettings } from '@parley/store'

/** One secret, one key per purpose: none of them gives away another or the secret. */
export interface Keys {
  readonly jwt: Uint8Array
  readonly requestState: Uint8Array
  readonly channelKeys: Uint8Array
  readonly mounts: Uint8Array
  /** Chains the logs of agents' calls. */
  readonly calls: Uint8Array
  /** Recognises the secret without giving it away; stored in the database. */
  readonly fingerprint: string
}

const SECRET_MIN_BYTES = 32
const KEY_BYTES = 32
const FINGERPRINT_BYTES = 16
const FINGERPRINT_SETTING = 'secret-fingerprint'

/** Derives the keys (HKDF-SHA-256). Throws `GatewayRefused` when the secret is too short to be one. */
export function deriveKeys(secret: Uint8Array): Keys {
  if (secret.byteLength < SECRET_MIN_BYTES)
    throw new GatewayRefused(
      'secret_too_short',
      `PARLEY_SECRET must have at least ${SECRET_MIN_BYTES} bytes, it has ${secret.byteLength}; make one with: openssl rand -hex 32`,
    )
  const derive = (purpose: string, bytes: number) => new Uint8Array(hkdfSync('sha256', secret, '', `parley/${purpose}`, bytes))
  return {
    jwt: derive('jwt', KEY_BYTES),
    requestState: derive('request-state', KEY_BYTES),
    channelKeys: derive('channel-keys', KEY_BYTES),
    mounts: derive('mounts', KEY_BYTES),
    calls: derive('calls', KEY_BYTES),
    fingerprint: Buffer.from(derive('fingerprint', FINGERPRINT_BYTES)).toString('hex'),
  }
}

/** Whether the database is bound to a secret already: a new one would be refused. */
export async function hasSecret({ settings }: Pick<Store, 'settings'>): Promise<boolean> {
  return (await settings.get(FINGERPRINT_SETTING)) !== undefined
}

/** Binds the database to the secret at the first start; afterwards another secret is refused, before anything is served. */
export async function claimDatabase(settings: StoredSettings, keys: Keys): Promise<void> {
  const there = await settings.setOnce(FINGERPRINT_SETTING, keys.fingerprint)
  if (there === keys.fingerprint) return
  throw new GatewayRefused('secret_mismatch', 'this database belongs to another PARLEY_SECRET')
}
