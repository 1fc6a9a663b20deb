import type { Limits } from '../limits.ts'
import { BodyRoom } from './body-room.ts'

type UnreadLimits = Pick<Limits, 'unreadBytes' | 'unreadBytesKept' | 'unreadBytesPerCaller'>
type ReplayLimits = Pick<Limits, 'replayBytesInAll' | 'replayBytesPerCaller'>

/** An answer up to this size that stands behind no other fits into the system's buffers: it is written without a count of its own. */
export const SMALL_ANSWER_CHARS = 16 * 1024

/** Room for what was answered or told and that its reader has not taken yet: so much for each person, so much in all. */
export function openUnreadRoom({ unreadBytes, unreadBytesKept, unreadBytesPerCaller }: UnreadLimits): BodyRoom {
  return new BodyRoom({
    bodyBytes: unreadBytes,
    bodyBytesKept: unreadBytesKept,
    bodyBytesPerCaller: unreadBytesPerCaller,
    bodyBytesPerAddress: 0,
  })
}

/** Room for what sessions keep for clients that come back: so much for each person, so much in all. */
export function openReplayRoom({ replayBytesInAll, replayBytesPerCaller }: ReplayLimits): BodyRoom {
  return new BodyRoom({
    bodyBytes: replayBytesInAll,
    bodyBytesKept: 0,
    bodyBytesPerCaller: replayBytesPerCaller,
    bodyBytesPerAddress: 0,
  })
}
