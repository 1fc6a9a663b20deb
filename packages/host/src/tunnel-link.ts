import { isJsonObject, type JsonValue } from '@parley/protocol'
import type { Caller } from '@parley/rpc'
import type { FrameLink } from '@parley/rpc/frame'

/** Each session of a token is a client of its own: a question goes to the one whose call it belongs to. */
export function callerOf(meta: JsonValue | undefined): Caller {
  // By hand: it is looked at in every request.
  const { key, link } = isJsonObject(meta) ? meta : {}
  if (typeof key !== 'string') return { key: 'gateway' }
  return { key: typeof link === 'string' ? `${key} ${link}` : key }
}

/** The link of a tunnel for whoever opens it anew. */
export function linkOf(link: FrameLink): Omit<FrameLink, 'open' | 'sendBytes'> {
  return {
    send: (text) => link.send(text),
    bufferedBytes: () => link.bufferedBytes(),
    drained: (below) => link.drained(below),
    close: (reason) => link.close(reason),
  }
}
