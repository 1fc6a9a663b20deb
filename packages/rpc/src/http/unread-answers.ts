import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { BodyRoom, BodyShare, RoomFull } from '../limit/body-room.ts'
import { SMALL_ANSWER_CHARS } from '../limit/unread-room.ts'
import type { Caller } from '../service.ts'

/**
 * Counts whole answers from when they are handed to Node until they have gone out, or their connection is gone. One that waits
 * behind others on its connection, because requests were sent one behind the other, never hears of the end by itself.
 */
export class UnreadAnswers {
  readonly #room: BodyRoom
  readonly #bySocket = new WeakMap<Socket, Set<BodyShare>>()

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** Makes room for an answer; says whose is too small when there is none, and then the answer must not be written. */
  hold(response: ServerResponse, caller: Caller, chars: number): RoomFull | undefined {
    const { socket } = response.req
    if (socket.destroyed || (chars <= SMALL_ANSWER_CHARS && goesOutAtOnce(response))) return undefined
    const share = this.#room.ofCaller(caller)
    const full = share.hold(chars)
    if (full !== undefined) return full
    const shares = this.#of(socket)
    shares.add(share)
    response.once('close', () => {
      shares.delete(share)
      share.release()
    })
    return undefined
  }

  #of(socket: Socket): Set<BodyShare> {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) return known
    const shares = new Set<BodyShare>()
    this.#bySocket.set(socket, shares)
    socket.once('close', () => {
      for (const share of shares) share.release()
      shares.clear()
    })
    return shares
  }
}

/** A response gets its socket when those before it are written. */
const goesOutAtOnce = ({ socket }: ServerResponse): boolean => socket !== null && socket.writableLength === 0
