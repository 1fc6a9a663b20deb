import type { JsonObject } from '@parley/protocol'
import { request } from 'undici'

export interface SeenEvent {
  readonly id: string | undefined
  readonly retry: string | undefined
  readonly message: JsonObject | undefined
}

/** Reads an event stream as it comes. `stop` closes the connection the way a client that vanishes does. */
export interface EventReader {
  readonly status: number
  readonly events: SeenEvent[]
  readonly ended: () => boolean
  stop(): void
}

export async function readEvents(url: string, headers: Record<string, string>, body?: JsonObject): Promise<EventReader> {
  const controller = new AbortController()
  const answer = await request(url, {
    method: body === undefined ? 'GET' : 'POST',
    body: body === undefined ? null : JSON.stringify(body),
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    signal: controller.signal,
  })
  const events: SeenEvent[] = []
  let ended = false
  let rest = ''
  answer.body.setEncoding('utf8')
  answer.body.on('data', (chunk: string) => {
    const blocks = `${rest}${chunk}`.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) if (!block.startsWith(':')) events.push(eventOf(block))
  })
  answer.body.on('error', () => undefined)
  answer.body.on('close', () => {
    ended = true
  })
  return { status: answer.statusCode, events, ended: () => ended, stop: () => controller.abort() }
}

function eventOf(block: string): SeenEvent {
  const field = (name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1]
  const data = field('data')
  const message: JsonObject | undefined = data === undefined || data === '' ? undefined : JSON.parse(data)
  return { id: field('id'), retry: field('retry'), message }
}
