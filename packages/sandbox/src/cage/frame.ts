import { Buffer } from 'node:buffer'

/** What a frame is, as the helper numbers it. */
export const FRAME = { open: 1, run: 2, kill: 3, join: 4, ready: 10, done: 11, joined: 12, failed: 13, output: 14 } as const

const HEAD_BYTES = 5
const FIRST_ROOM_BYTES = 4096
/** The helper refuses longer ones too. */
const MAX_FRAME_BYTES = 1 << 30

/** One message between us and the helper. */
export interface Frame {
  readonly type: number
  readonly payload: Buffer
}

/** Writes one frame, field by field. */
export class FrameWriter {
  #room = Buffer.allocUnsafe(FIRST_ROOM_BYTES)
  #used = HEAD_BYTES

  u32(value: number): this {
    this.#grow(4)
    this.#used = this.#room.writeUInt32LE(value, this.#used)
    return this
  }

  u64(value: number): this {
    this.#grow(8)
    this.#used = this.#room.writeBigUInt64LE(BigInt(value), this.#used)
    return this
  }

  bytes(value: Uint8Array): this {
    this.u32(value.byteLength)
    this.#grow(value.byteLength)
    this.#room.set(value, this.#used)
    this.#used += value.byteLength
    return this
  }

  string(value: string): this {
    return this.bytes(Buffer.from(value))
  }

  strings(values: readonly string[]): this {
    this.u32(values.length)
    for (const value of values) this.string(value)
    return this
  }

  finish(type: number): Buffer {
    this.#room.writeUInt32LE(this.#used - HEAD_BYTES, 0)
    this.#room.writeUInt8(type, HEAD_BYTES - 1)
    return this.#room.subarray(0, this.#used)
  }

  #grow(more: number): void {
    const wanted = this.#used + more
    if (wanted <= this.#room.length) return
    const wider = Buffer.allocUnsafe(Math.max(wanted, this.#room.length * 2))
    this.#room.copy(wider, 0, 0, this.#used)
    this.#room = wider
  }
}

/** Reads one payload, field by field. */
export class FrameReader {
  readonly #from: Buffer
  #at = 0

  constructor(from: Buffer) {
    this.#from = from
  }

  u32(): number {
    this.#at += 4
    return this.#from.readUInt32LE(this.#at - 4)
  }

  u64(): number {
    this.#at += 8
    return Number(this.#from.readBigUInt64LE(this.#at - 8))
  }

  rest(): Buffer {
    return this.#from.subarray(this.#at)
  }

  bytes(count: number): Buffer {
    this.#at += count
    return this.#from.subarray(this.#at - count, this.#at)
  }
}

/** Cuts a stream of chunks into frames. */
export class FrameSplitter {
  #chunks: Buffer[] = []
  #held = 0
  #wanted = HEAD_BYTES

  /** The frames that this chunk completes. */
  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk)
    this.#held += chunk.length
    const frames: Frame[] = []
    while (this.#held >= this.#wanted) {
      const all = this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks)
      this.#chunks = [all]
      this.#wanted = HEAD_BYTES + all.readUInt32LE(0)
      if (this.#wanted > MAX_FRAME_BYTES) throw new RangeError('a frame of the sandbox helper is too long')
      if (all.length < this.#wanted) break
      frames.push({ type: all.readUInt8(HEAD_BYTES - 1), payload: all.subarray(HEAD_BYTES, this.#wanted) })
      const rest = all.subarray(this.#wanted)
      this.#chunks = rest.length === 0 ? [] : [rest]
      this.#held = rest.length
      this.#wanted = HEAD_BYTES
    }
    return frames
  }
}
