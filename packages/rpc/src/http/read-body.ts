import type { IncomingMessage } from 'node:http'
import type { BodyShare, RoomFull } from '../core/body-room.ts'
import { connectionOf } from './connections.ts'

export type BodyOutcome =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** Too many bytes of this sender, or of all, are held already. */
  | { readonly kind: 'no-room'; readonly full: RoomFull }
  /** The client went away half-way: there is nobody to answer. */
  | { readonly kind: 'gone' }

export interface BodyLimits {
  readonly limitBytes: number
  /** Where the bytes are counted, as they come. What it holds in the end stays held until whoever reads the body lets go. */
  readonly share: BodyShare
}

/** Reads a body up to a limit. Calls back rather than promises: it is on the path of every call. */
export function readBody(
  request: IncomingMessage,
  { limitBytes, share }: BodyLimits,
  done: (outcome: BodyOutcome) => void,
): void {
  const announced = Number(request.headers['content-length'] ?? 0)
  if (announced > limitBytes) return done({ kind: 'too-large' })
  let body: Buffer | undefined
  let size = 0
  let settled = false
  let isInPieces = false
  const connection = connectionOf(request.socket)
  const settle = (outcome: BodyOutcome): void => {
    if (settled) return
    settled = true
    if (isInPieces) share.arrived()
    connection?.bodyOver()
    // What was gathered is of no use any more, however long the client goes on.
    body = undefined
    done(outcome)
  }
  const order = connection?.order ?? Number.POSITIVE_INFINITY
  connection?.bodyAwaited()
  request.on('data', (chunk: Buffer) => {
    if (settled) return
    const end = size + chunk.length
    if (end > limitBytes) return settle({ kind: 'too-large' })
    // Most bodies come in one piece.
    if (!isInPieces && end !== announced) {
      isInPieces = true
      share.arrives(order, () => settle({ kind: 'no-room', full: 'own' }))
    }
    const room = body === undefined ? chunk.length : roomFor(body, end, limitBytes)
    const full = share.hold(room, order)
    if (full !== undefined) return settle({ kind: 'no-room', full })
    body = body === undefined ? chunk : joined(body, size, chunk, room)
    size = end
  })
  request.on('end', () => settle({ kind: 'body', bytes: body?.subarray(0, size) ?? Buffer.alloc(0) }))
  request.on('close', () => settle({ kind: 'gone' }))
  request.on('error', () => settle({ kind: 'gone' }))
}

const roomFor = (body: Buffer, end: number, limitBytes: number): number =>
  end <= body.length ? body.length : Math.min(limitBytes, end * 2)

/** One buffer that doubles, not a list of chunks: a chunk may be a single byte, and would cost hundreds in a list. */
function joined(body: Buffer, size: number, chunk: Buffer, roomBytes: number): Buffer {
  const room = roomBytes === body.length ? body : Buffer.allocUnsafe(roomBytes)
  if (room !== body) body.copy(room, 0, 0, size)
  chunk.copy(room, size)
  return room
}
