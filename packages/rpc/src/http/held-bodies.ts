import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { BodyShare } from '../core/body-room.ts'

/**
 * Lets go of the room of a body when its exchange is over: until then what the body said may be in use. An exchange is over
 * with its response or with its connection: a response that waits behind another one on a connection never hears of the end.
 */
export class HeldBodies {
  readonly #bySocket = new WeakMap<Socket, Set<BodyShare>>()

  hold(request: IncomingMessage, response: ServerResponse, share: BodyShare): void {
    if (request.socket.destroyed) return share.release()
    const shares = this.#of(request.socket)
    shares.add(share)
    response.on('close', () => {
      shares.delete(share)
      share.release()
    })
  }

  #of(socket: Socket): Set<BodyShare> {
    const known = this.#bySocket.get(socket)
    if (known !== undefined) return known
    const shares = new Set<BodyShare>()
    this.#bySocket.set(socket, shares)
    socket.on('close', () => {
      for (const share of shares) share.release()
      shares.clear()
    })
    return shares
  }
}
