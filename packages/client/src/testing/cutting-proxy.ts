import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

/** Where a connection is cut: after so many bytes of the client's have gone through, or so many of the server's. */
export interface Cut {
  readonly of: 'client' | 'server'
  readonly bytes: number
}

/** A wire that breaks: it passes on what it gets, up to a byte that the test names. */
export interface CuttingProxy extends AsyncDisposable {
  readonly port: number
  /** Connections that were made through it. */
  readonly count: () => number
  /** Breaks what is open now. */
  cutAll(): void
  /** From now on nothing passes, and nobody is told. */
  stall(): void
}

/** Listens on loopback before a server on loopback. `cutOf` says where the connection of that number is cut; `undefined` leaves it whole. */
export async function openCuttingProxy(port: number, cutOf: (index: number) => Cut | undefined): Promise<CuttingProxy> {
  const open = new Set<() => void>()
  let count = 0
  let isStalled = false
  const server = createServer((near) => {
    const cut = cutOf(count)
    count += 1
    if (cut?.bytes === 0) return void near.resetAndDestroy()
    const far = connect(port, '127.0.0.1')
    const end = (): void => {
      open.delete(end)
      near.destroy()
      far.destroy()
    }
    open.add(end)
    pass(near, far, cut?.of === 'client' ? cut.bytes : Number.POSITIVE_INFINITY)
    pass(far, near, cut?.of === 'server' ? cut.bytes : Number.POSITIVE_INFINITY)
    for (const socket of [near, far]) {
      socket.on('error', end)
      socket.on('close', end)
    }
  })
  const pass = (from: Socket, to: Socket, limit: number): void => {
    let left = limit
    from.on('data', (chunk: Buffer) => {
      if (isStalled) return
      to.write(chunk.subarray(0, left))
      left -= chunk.length
      // What was let through arrives before the end does.
      if (left <= 0) to.end(() => from.destroy())
    })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cutAll = (): void => {
    for (const end of [...open]) end()
  }
  return {
    port: portOf(server.address()),
    count: () => count,
    cutAll,
    stall: () => {
      isStalled = true
    },
    async [Symbol.asyncDispose]() {
      cutAll()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return address.port
}
