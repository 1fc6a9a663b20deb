import { rmSync } from 'node:fs'
import { type Socket, createServer } from 'node:net'

/** A socket file that takes the connections of one start and is gone. */
export interface PrivateSocket {
  readonly path: string
  /** Settles when all have come; rejects when `cancel` came first. */
  readonly sockets: Promise<readonly Socket[]>
  cancel(): void
}

/** Listens at `path` for exactly `count` connections, in the order in which they are made. What comes early waits in them. */
export async function listenPrivately(path: string, count: number): Promise<PrivateSocket> {
  const taken: Socket[] = []
  const done = Promise.withResolvers<readonly Socket[]>()
  done.promise.catch(() => {})
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    // A child may go away at any time; whoever uses the stream sees it close.
    socket.on('error', () => {})
    taken.push(socket)
    if (taken.length === count) finish()
  })
  const finish = (): void => {
    server.close()
    rmSync(path, { force: true })
    done.resolve(taken)
  }
  const cancel = (): void => {
    server.close()
    rmSync(path, { force: true })
    for (const socket of taken) socket.destroy()
    done.reject(new Error('cancelled'))
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, count, resolve)
  })
  return { path, sockets: done.promise, cancel }
}
