import type { ServerResponse } from 'node:http'
import type { Manner } from './answer.ts'

export interface OutgoingStream {
  readonly events: readonly string[]
  readonly manner: Manner
  readonly headers: Readonly<Record<string, string>>
}

/** Sends the events of a stream, well or badly as asked. Settles when nothing more will come. */
export async function writeStream(response: ServerResponse, { events, manner, headers }: OutgoingStream): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...headers })
  const texts = framed(events, manner)
  const steps = manner.pauseMs === undefined && manner.writeBytes === undefined ? [texts.join('')] : texts
  const ends = !isStalled(manner)
  let left = manner.cutAfterBytes ?? Number.POSITIVE_INFINITY
  response.flushHeaders()
  for (const [index, text] of steps.entries()) {
    if (index > 0 && manner.pauseMs !== undefined) await pause(manner.pauseMs)
    if (response.destroyed) return
    const bytes = Buffer.from(text)
    const sent = bytes.subarray(0, left)
    left -= bytes.length
    if (sent.length > 0) await writeAll(response, sent, manner.writeBytes)
    if (left < 0) return cut(response)
  }
  if (manner.cutAfterEvents !== undefined || left <= 0) return cut(response)
  if (ends) response.end()
}

const isStalled = ({ stallAfterEvents }: Manner): boolean => stallAfterEvents !== undefined

function framed(events: readonly string[], manner: Manner): readonly string[] {
  const end = manner.lineEnd ?? '\n'
  const shown = events.slice(0, manner.cutAfterEvents ?? manner.stallAfterEvents ?? events.length)
  return shown.map((event, index) => {
    const inserted = (manner.inserts ?? []).filter(({ before }) => before === index).map(({ text }) => text)
    const comment = manner.keepAlives === true ? `: keep-alive${end}${end}` : ''
    return `${comment}${inserted.join('')}${event.replaceAll('\n', end)}${end}${end}`
  })
}

/** What was written so far arrives before the connection goes. */
function cut(response: ServerResponse): void {
  response.socket?.setNoDelay(true)
  response.write('', () => setImmediate(() => response.destroy()))
}

async function writeAll(response: ServerResponse, bytes: Buffer, size: number | undefined): Promise<void> {
  if (size === undefined) return void (response.write(bytes) || (await drained(response)))
  for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
    response.write(bytes.subarray(start, start + size))
    // A turn of the loop between two writes, so that they arrive apart.
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done)
      response.off('close', done)
      resolve()
    }
    response.on('drain', done)
    response.on('close', done)
  })
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
