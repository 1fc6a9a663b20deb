import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Headers } from './answer.ts'

/** Answers an upgrade with plain HTTP, so that the client learns why. */
export function reject(socket: Duplex, status: number, body = '', headers: Headers = {}): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-type: application/json\r\n`
  // Nobody watches over this socket any more, so it may not stay half open until the client pleases.
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy())
}
