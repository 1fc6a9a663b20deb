import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ServerResponse } from 'node:http'

/** What servers of this process have handed to Node for their clients since now, and what of it the system has not taken. */
export interface WaitingBytes extends Disposable {
  now(): number
}

export function watchWaitingBytes(): WaitingBytes {
  const responses = new Set<ServerResponse>()
  const take = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('response' in message)) return
    if (message.response instanceof ServerResponse) responses.add(message.response)
  }
  subscribe('http.server.request.start', take)
  return {
    now: () => {
      // A response that waits for its turn on a connection has its bytes to itself; those of the others are the socket's.
      const sockets = new Set([...responses].map(({ socket }) => socket))
      let bytes = 0
      for (const socket of sockets) if (socket?.destroyed === false) bytes += socket.writableLength
      for (const response of responses)
        if (response.socket === null && !response.req.socket.destroyed) bytes += response.writableLength
      return bytes
    },
    [Symbol.dispose]: () => void unsubscribe('http.server.request.start', take),
  }
}
