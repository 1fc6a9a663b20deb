import type { OutputStream, SequencedEvent } from '../process/exec-process.ts'

/** What the first byte says: output of a process. Others may come. */
const OUTPUT = 1
const STREAMS: readonly OutputStream[] = ['stdout', 'stderr', 'pty']
/** Kind, stream, length of the id, number. */
const HEAD_BYTES = 1 + 1 + 2 + 6
const ID_AT = HEAD_BYTES
const MAX_ID_BYTES = 65_535
/** Bytes stay where they are if what they lie in is at most so many times as large. */
const KEEPS_TIMES = 2

/**
 * Output as bytes, for two ends that are both ours: half of what output costs as text is turning it into letters and back. In two
 * parts, the second as the process wrote it. `undefined` for what does not fit in, which goes as text.
 */
export function outputFrame(
  processId: string,
  event: Extract<SequencedEvent, { kind: 'output' }>,
): readonly [Buffer, Buffer] | undefined {
  const idBytes = Buffer.byteLength(processId)
  if (idBytes > MAX_ID_BYTES) return undefined
  const head = Buffer.allocUnsafe(HEAD_BYTES + idBytes)
  head[0] = OUTPUT
  head[1] = STREAMS.indexOf(event.stream)
  head.writeUInt16BE(idBytes, 2)
  head.writeUIntBE(event.seq, 4, 6)
  head.write(processId, ID_AT)
  return [head, event.bytes]
}

/** What such a frame says, however it was cut on its way; `undefined` for any other. */
export function outputOf(parts: readonly Buffer[]): { readonly processId: string; readonly event: SequencedEvent } | undefined {
  const [head, body] = parts
  // As it was sent: the bytes of the process are a part of their own, and stay where they are.
  if (head !== undefined && body !== undefined && parts.length === 2 && lengthOf(head) === head.length) return eventOf(head, body)
  const whole = parts.length === 1 && head !== undefined ? head : Buffer.concat(parts)
  const bytesAt = lengthOf(whole)
  return bytesAt === undefined || whole.length < bytesAt ? undefined : eventOf(whole, whole.subarray(bytesAt))
}

/** How long the head at the beginning of these bytes is, as far as they tell. */
function lengthOf(frame: Buffer): number | undefined {
  return frame.length < HEAD_BYTES || frame[0] !== OUTPUT ? undefined : ID_AT + frame.readUInt16BE(2)
}

function eventOf(head: Buffer, bytes: Buffer): { readonly processId: string; readonly event: SequencedEvent } | undefined {
  const stream = STREAMS[head[1] ?? -1]
  if (stream === undefined) return undefined
  const processId = head.toString('utf8', ID_AT, lengthOf(head))
  return { processId, event: { kind: 'output', seq: head.readUIntBE(4, 6), stream, bytes: ownBytes(bytes) } }
}

/**
 * What was read from a socket at once lies in one piece of memory, and stays for as long as any part of it is kept. A few bytes of a
 * process that are kept must not keep all that came beside them.
 */
function ownBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= bytes.length * KEEPS_TIMES) return bytes
  // Not from Node's pool, which is shared in the same way.
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
