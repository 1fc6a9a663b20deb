import type { Readable, Writable } from 'node:stream'
import type { RunOutput } from '../sandbox.ts'

/** What is said on one stream of a run: counted to the limit, held as far as asked for, and passed on to a partner if there is one. */
export interface StreamCapture {
  output(): RunOutput
}

export function captureStream(
  from: Readable,
  bounds: { readonly captureBytes: number; readonly limitBytes: number },
  onOver: () => void,
  partner?: Writable,
  onHeld?: (bytes: Buffer) => void,
): StreamCapture {
  const chunks: Buffer[] = []
  let held = 0
  let total = 0
  from.on('data', (chunk: Buffer) => {
    const allowed = chunk.subarray(0, bounds.limitBytes - total)
    total += allowed.length
    const wanted = allowed.subarray(0, bounds.captureBytes - held)
    if (wanted.length > 0) {
      chunks.push(wanted)
      onHeld?.(wanted)
    }
    held += wanted.length
    if (allowed.length < chunk.length) return onOver()
    if (partner !== undefined && !partner.destroyed && !partner.write(allowed)) {
      from.pause()
      partner.once('drain', () => from.resume())
      partner.once('close', () => from.resume())
    }
  })
  from.on('end', () => partner?.end())
  // A partner that stopped listening is its own affair.
  partner?.on('error', () => undefined)
  return { output: () => ({ bytes: Buffer.concat(chunks), totalBytes: total }) }
}
