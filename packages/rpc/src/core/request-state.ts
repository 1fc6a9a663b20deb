import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { type JsonObject, type JsonValue, RpcError, isJsonObject } from '@parley/protocol/wire'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const MAX_SEALED_CHARS = 64 * 1024

/** What a sealed state is good for: this caller, this call, this long. */
export interface StateBinding {
  readonly callerKey: string
  readonly method: string
  readonly params: JsonObject
}

/**
 * Seals the state of a call that waits for input. The client carries it, so it must not be able to read it, change it,
 * use it as somebody else, for another call, or for ever.
 */
export class StateSeal {
  readonly #key: Buffer
  readonly #goodForMs: number
  readonly #now: () => number

  constructor(key: Uint8Array, goodForMs: number, now: () => number) {
    this.#key = Buffer.from(hkdfSync('sha256', key, '', 'parley request state', 32))
    this.#goodForMs = goodForMs
    this.#now = now
  }

  seal(state: JsonValue, binding: StateBinding): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce)
    cipher.setAAD(digest(binding))
    const plain = JSON.stringify({ state, expiresAt: this.#now() + this.#goodForMs })
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return sealed.toString('base64url')
  }

  open(text: string, binding: StateBinding): JsonValue {
    const plain = text.length > MAX_SEALED_CHARS ? undefined : this.#decrypt(Buffer.from(text, 'base64url'), binding)
    const value: unknown = plain === undefined ? undefined : JSON.parse(plain)
    if (!isJsonObject(value) || typeof value['expiresAt'] !== 'number') {
      throw new RpcError('invalid_params', 'requestState is not one that this server gave for this call', {
        field: 'requestState',
      })
    }
    if (value['expiresAt'] < this.#now()) {
      throw new RpcError('invalid_params', 'requestState has expired: send the call again without it', { field: 'requestState' })
    }
    return value['state'] ?? null
  }

  #decrypt(sealed: Buffer, binding: StateBinding): string | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined
    const decipher = createDecipheriv(CIPHER, this.#key, sealed.subarray(0, NONCE_BYTES))
    decipher.setAAD(digest(binding))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    try {
      return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      return undefined
    }
  }
}

/** The call's identity: all of its parameters but those that differ between its rounds. */
function digest({ callerKey, method, params }: StateBinding): Buffer {
  const salient = Object.entries(params).filter(([key]) => key !== '_meta' && key !== 'inputResponses' && key !== 'requestState')
  salient.sort(([left], [right]) => (left < right ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([callerKey, method, salient]))
    .digest()
}
