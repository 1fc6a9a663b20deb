import { Agent, request } from 'node:http'

/** How long any answer may take before we call it a hang. */
export const HANG_MS = 15_000

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** Sends bytes exactly as they are. Throws when the connection ends without an answer or nothing comes in time. */
export function send(
  agent: Agent,
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array | string,
): Promise<HttpAnswer> {
  return new Promise((done, fail) => {
    const outgoing = request(
      url,
      { agent, method, headers: { ...headers, 'content-length': Buffer.byteLength(body) } },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('end', () =>
          done({ status: incoming.statusCode ?? 0, headers: incoming.headers, text: Buffer.concat(chunks).toString('utf8') }),
        )
        incoming.on('error', fail)
      },
    )
    outgoing.setTimeout(HANG_MS, () => outgoing.destroy(new Error(`no answer within ${HANG_MS} ms`)))
    outgoing.on('error', fail)
    outgoing.end(body)
  })
}

export function keepAlive(connections: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections })
}
