import { BodyWithoutRoom, type HttpRequest } from '@parley/rpc'
import type { FoundModelKey } from '@parley/store'
import { holderOf } from './key-holder.ts'
import { ModelRefusal } from './refusal.ts'

const BODY_MAX_BYTES = 32 * 1024 * 1024
/** Bodies that are read or sent at the same time, over all keys. */
const ROOM_BYTES = 256 * 1024 * 1024

/** Reads bodies, as many at once as there is room for. */
export class BodyReader {
  #left = ROOM_BYTES

  /** The body, which keeps its room until `release`. It counts for the owner, whichever keys they have. */
  async read(request: HttpRequest, found: FoundModelKey): Promise<{ readonly bytes: Buffer; readonly release: () => void }> {
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type !== 'application/json')
      throw new ModelRefusal(415, 'unsupported_media_type', 'send application/json', { closes: true })
    const announced = Number(request.headers['content-length'] ?? BODY_MAX_BYTES)
    if (!(announced <= BODY_MAX_BYTES)) throw tooLarge()
    if (announced > this.#left) throw noRoom(429, 'too many large requests are being read; try again shortly')
    this.#left -= announced
    let isHeld = true
    const release = (): void => {
      if (isHeld) this.#left += announced
      isHeld = false
    }
    try {
      return {
        bytes: await request.body(BODY_MAX_BYTES, { key: `models of ${found.key.ownerId ?? holderOf(found).topic}` }),
        release,
      }
    } catch (error) {
      release()
      if (error instanceof BodyWithoutRoom)
        throw error.full === 'own'
          ? noRoom(429, 'too many bytes of the owner of this key are being read; send them one after the other')
          : noRoom(503, 'too many large requests are being read; try again shortly')
      // It was too large, or the client is gone and reads no answer.
      throw tooLarge(error)
    }
  }
}

const noRoom = (status: 429 | 503, message: string): ModelRefusal =>
  new ModelRefusal(status, 'rate_limited', message, { retryAfterSeconds: 2, closes: true })
const tooLarge = (cause?: unknown): ModelRefusal =>
  new ModelRefusal(413, 'request_too_large', `a request has at most ${BODY_MAX_BYTES} bytes`, { closes: true, cause })
