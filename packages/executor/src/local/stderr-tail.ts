import type { Readable } from 'node:stream'

/** Reads a stream to its end and keeps the last `limitBytes` of it. */
export function keepTail(stream: Readable, limitBytes: number): () => string {
  let chunks: Buffer[] = []
  let bytes = 0
  let cut = false
  const compact = (): Buffer => {
    const all = Buffer.concat(chunks)
    cut ||= all.length > limitBytes
    const tail = all.subarray(Math.max(0, all.length - limitBytes))
    chunks = [tail]
    bytes = tail.length
    return tail
  }
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    // Twice the bound before copying, so that a flood costs one copy per bound and not one per chunk.
    if (bytes > 2 * limitBytes) compact()
  })
  return () => {
    const text = compact().toString('utf8')
    return cut ? text.slice(text.indexOf('\n') + 1) : text
  }
}
