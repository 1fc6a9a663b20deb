import { WireError } from '@parley/fetch/browser'
import type { IncomingMessage } from 'node:http'
import { parseForeign, within } from '@parley/protocol/wire'
import type { WebSocket } from 'ws'
import { connectReason } from './connect-reason.ts'
import { readReason } from './http-failure.ts'

/** What is read of a refusal, and for how long. */
const REFUSAL_CHARS = 8_192
const REFUSAL_MS = 2_000

/**
 * What is made of a WebSocket in the moment it opens: its first message may be there already. Throws `WireError`: `unauthorized`, `http_status`
 * or `unreachable`, with the server's words.
 */
export function openedSocket<Link>(
  socket: WebSocket,
  at: { readonly name: string; readonly url: URL | undefined },
  made: () => Link,
): Promise<Link> {
  const { name, url } = at
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(made()))
    socket.once('unexpected-response', (_request, response) => {
      const status = response.statusCode ?? 0
      const code = status === 401 || status === 403 ? 'unauthorized' : 'http_status'
      const words = `${name} answered ${status} instead of opening a WebSocket`
      void within(saidIn(response), REFUSAL_MS).then((said) => {
        reject(new WireError(code, said === undefined ? words : `${words}: ${said}`, { status, said }))
        socket.terminate()
      })
    })
    socket.on('error', (cause) => {
      reject(new WireError('unreachable', `${name} did not open: ${connectReason(cause, url)}`, { cause }))
    })
  })
}

async function saidIn(response: IncomingMessage): Promise<string | undefined> {
  let text = ''
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk)
      if (text.length > REFUSAL_CHARS) break
    }
  } catch {
    // What came until then may do.
  }
  return readReason(parseForeign(text))
}
