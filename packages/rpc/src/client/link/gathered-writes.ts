import { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'

/** What waits for the end of a turn at most: beyond it the kernel may begin to take it. */
const GATHERED_BYTES = 256 * 1024

/**
 * Called before something is sent: all that is sent in this turn of the event loop leaves in one write. The write is what a small message
 * costs most, and whoever serves many clients has many of them in a turn.
 */
export function gatherWrites(socket: WebSocket): void {
  const stream = streamOf(socket)
  if (stream === undefined) return
  if (stream.writableLength > GATHERED_BYTES) return stream.uncork()
  if (stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}

/** The stream below a WebSocket, which its library keeps to itself. Without it every message is a write, and nothing else changes. */
function streamOf(socket: WebSocket): Duplex | undefined {
  const stream: unknown = Reflect.get(socket, '_socket')
  return stream instanceof Duplex ? stream : undefined
}
