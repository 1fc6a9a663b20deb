import type { Readable, Writable } from 'node:stream'
import { FramePeer, type FramePeerOptions } from '../frame/frame-peer.ts'
import { lineFrames } from '../frame/line-frames.ts'

export interface LinePeerOptions extends Omit<FramePeerOptions, 'link'> {
  readonly input: Readable
  readonly output: Writable
}

/** A peer on two streams, one message a line. */
export class LinePeer extends FramePeer {
  constructor({ input, output, ...options }: LinePeerOptions) {
    super({ ...options, link: lineFrames({ input, output }) })
  }
}
