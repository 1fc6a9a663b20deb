import type { Readable, Writable } from 'node:stream'
import { LineReader } from '../stdio/lines.ts'
import { DEFAULT_FRAME_LIMITS, type FrameLimits, type FrameLink, type FrameSink } from './frame-link.ts'

export interface LineFramesOptions {
  readonly input: Readable
  readonly output: Writable
  readonly limits?: Partial<FrameLimits>
}

/** Two streams as a link: one text a line. */
export function lineFrames({ input, output, limits: given }: LineFramesOptions): FrameLink {
  const limits = { ...DEFAULT_FRAME_LIMITS, ...given }
  let sink: FrameSink | undefined
  let isOver = false
  const end = (reason: string): void => {
    if (isOver) return
    isOver = true
    sink?.ended(reason)
  }
  const cannotSend = (): boolean => isOver || output.destroyed || output.writableEnded
  return {
    open: (opened) => {
      sink = opened
      const lines = new LineReader(limits.frameBytes, {
        line: (text) => {
          if (!isOver) opened.text(text)
        },
        fault: (fault) => {
          if (!isOver) opened.fault(fault)
        },
      })
      input.on('data', (chunk: Buffer) => lines.push(chunk))
      for (const event of ['end', 'close', 'error'] as const) input.on(event, () => end('the other side ended'))
      output.on('error', () => end('the other side does not read any more'))
    },
    send: (text) => {
      if (cannotSend()) return
      if (output.writableLength > limits.unsentBytes) return end('the other side does not read')
      output.write(`${text}\n`)
    },
    bufferedBytes: () => output.writableLength,
    drained: () => {
      if (!output.writableNeedDrain || output.destroyed || isOver) return Promise.resolve()
      return new Promise((resolve) => {
        const done = (): void => {
          output.off('drain', done)
          output.off('close', done)
          resolve()
        }
        output.on('drain', done)
        output.on('close', done)
      })
    },
    close: (reason = 'closed by us') => {
      if (!output.destroyed) output.end()
      end(reason)
    },
  }
}
