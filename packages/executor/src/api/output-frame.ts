import type { OutputStream, SequencedEvent } from '../process/exec-process.ts'

/** What the first byte says: output of a process. Others may come. */
const OUTPUT = 1
const STREAMS: readonly OutputStream[] = ['stdout', 'stderr', 'pty']
/** Kind, stream, length of the id, number. */
const HEAD_BYTES = 1 + 1 + 2 + 6
const ID_AT = HEAD_BYTES
const MAX_ID_BYTES = 65_535

/**
 * Output as bytes, for two ends that are both ours: half of what output costs as text is turning it into letters and back. `undefined`
 * for what does not fit in, which goes as text.
 */
export function outputFrame(processId: string, event: Extract<SequencedEvent, { kind: 'output' }>): Buffer | undefined {
  const idBytes = Buffer.byteLength(processId)
  if (idBytes > MAX_ID_BYTES) return undefined
  const frame = Buffer.allocUnsafe(HEAD_BYTES + idBytes + event.bytes.length)
  frame[0] = OUTPUT
  frame[1] = STREAMS.indexOf(event.stream)
  frame.writeUInt16BE(idBytes, 2)
  frame.writeUIntBE(event.seq, 4, 6)
  frame.write(processId, ID_AT)
  event.bytes.copy(frame, ID_AT + idBytes)
  return frame
}

/** What such a frame says; `undefined` for any other. */
export function outputOf(frame: Buffer): { readonly processId: string; readonly event: SequencedEvent } | undefined {
  const stream = STREAMS[frame[1] ?? -1]
  if (frame.length < HEAD_BYTES || frame[0] !== OUTPUT || stream === undefined) return undefined
  const bytesAt = ID_AT + frame.readUInt16BE(2)
  if (frame.length < bytesAt) return undefined
  const processId = frame.toString('utf8', ID_AT, bytesAt)
  return { processId, event: { kind: 'output', seq: frame.readUIntBE(4, 6), stream, bytes: frame.subarray(bytesAt) } }
}
