import { connect, type Socket } from 'node:net'

/** Sends bytes as they are and gathers what comes back. `allowHalfOpen`: it never closes its own side. */
export interface RawPeer {
  readonly socket: Socket
  readonly text: () => string
}

export function sendRaw(port: number, bytes: string): RawPeer {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  socket.on('error', () => undefined)
  socket.write(bytes)
  return { socket, text: () => text }
}

const POST_HEADERS = {
  host: 'localhost',
  authorization: 'Bearer me',
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

/** One POST as text, for what no HTTP library would send. */
export function rawPost(body: unknown, headers: Record<string, string> = {}, target = '/mcp'): string {
  const text = JSON.stringify(body)
  const all = { ...POST_HEADERS, 'content-length': String(Buffer.byteLength(text)), ...headers }
  return `${rawHead(`POST ${target}`, all)}${text}`
}

export function rawHead(line: string, headers: Record<string, string>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`
}
