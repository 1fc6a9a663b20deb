import { createCipheriv, createDecipheriv } from 'node:crypto'
import { type RandomBytes, ToolError } from '@parley/protocol'

const CIPHER = 'aes-256-gcm'
const VERSION = 'v1'
const IV_BYTES = 12
const TAG_BYTES = 16

/** Keeps the keys of channels at rest. What is sealed for one name cannot be opened under another, nor with another secret. */
export interface Sealer {
  seal(name: string, text: string): string
  /** `undefined`: made with another secret, for another name, or damaged. */
  open(name: string, sealed: string): string | undefined
}

/** For a store without its secret: nothing can be sealed, nothing opened. */
export const NO_SEALER: Sealer = {
  seal() {
    throw new ToolError('unavailable', 'a key can be kept by a running gateway alone', { field: 'api_key' })
  },
  open: () => undefined,
}

/** Seals by AES-256-GCM: `v1.IV.CIPHERTEXT-AND-TAG`, base64url, with the name as additional data. */
export function openSealer(key: Uint8Array, random: RandomBytes): Sealer {
  return {
    seal(name, text) {
      const iv = random(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(boundTo(name))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return [VERSION, Buffer.from(iv).toString('base64url'), body.toString('base64url')].join('.')
    },
    open(name, sealed) {
      const [version, ivText = '', bodyText = ''] = sealed.split('.')
      const iv = Buffer.from(ivText, 'base64url')
      const body = Buffer.from(bodyText, 'base64url')
      if (version !== VERSION || iv.length !== IV_BYTES || body.length < TAG_BYTES) return undefined
      const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
        .setAAD(boundTo(name))
        .setAuthTag(body.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(body.subarray(0, -TAG_BYTES)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

const boundTo = (name: string): Buffer => Buffer.from(`parley/channel-key/${VERSION}/${name}`)

/** At each end, of a key that is long enough. */
const SHOWN_MAX = 4
const SHOWN_PART = 3

/** Enough of a key to tell two apart: first 4…last 4, and never more than a third of it. */
export function maskKey(text: string): string {
  const shown = Math.min(2 * SHOWN_MAX, Math.floor(text.length / SHOWN_PART))
  const last = Math.floor(shown / 2)
  return `${text.slice(0, shown - last)}…${last === 0 ? '' : text.slice(-last)}`
}
