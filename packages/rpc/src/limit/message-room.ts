import type { Caller } from '../service.ts'
import type { BodyRoom } from './body-room.ts'

/** Many of these may be under way without any count: how many is bounded. */
const SMALL_MESSAGE_CHARS = 64 * 1024
export const TOO_MANY_BYTES = 'too many bytes of yours are being worked on; send them one after the other'

/** What a message takes while it is worked on. */
export interface MessageRoom {
  readonly isFull: boolean
  release(): void
}
const NO_ROOM_NEEDED: MessageRoom = { isFull: false, release: () => undefined }

/** Room for a message of a link. What a large one says is in use until it is answered, so it counts until then. */
export function roomFor(bodies: BodyRoom, caller: Caller, text: string): MessageRoom {
  if (text.length <= SMALL_MESSAGE_CHARS) return NO_ROOM_NEEDED
  const share = bodies.ofCaller(caller)
  const isFull = share.hold(text.length) !== undefined
  return { isFull, release: () => share.release() }
}
