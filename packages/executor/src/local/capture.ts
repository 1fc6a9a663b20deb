import type { Readable } from 'node:stream'
import { within } from '@parley/protocol/wire'
import type { ProcessExit, Processes, ProcessSpec } from './processes.ts'

export interface CaptureOptions {
  readonly timeoutMs: number
  /** Bytes kept of stdout; the rest is read and dropped. */
  readonly maxBytes: number
}
export type Captured =
  | { readonly kind: 'ended'; readonly exit: ProcessExit; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'timed-out' }

/** Runs a program to its end without input and gives what it said. Throws `ProcessError` when it cannot be started. */
export async function capture(processes: Processes, spec: ProcessSpec, options: CaptureOptions): Promise<Captured> {
  const running = await processes.start(spec)
  running.stdin.end()
  const stdout = readUpTo(running.stdout, options.maxBytes)
  const exit = await within(running.exited, options.timeoutMs)
  if (exit === undefined) {
    await running.stop(0)
    return { kind: 'timed-out' }
  }
  return { kind: 'ended', exit, stdout: (await within(stdout, options.timeoutMs)) ?? '', stderr: running.stderrTail() }
}

async function readUpTo(stream: Readable, maxBytes: number): Promise<string> {
  const kept: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    if (bytes < maxBytes) kept.push(chunk.subarray(0, maxBytes - bytes))
    bytes += chunk.length
  })
  await new Promise<void>((resolve) => stream.once('close', resolve))
  return Buffer.concat(kept).toString('utf8')
}
