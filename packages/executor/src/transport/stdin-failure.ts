import type { WriteStatus } from '../process/exec-process.ts'

/** A message that the server did not get: `EPIPE` for good, `EAGAIN` when it may be tried again. */
export class StdinFailure extends Error {
  readonly code: 'EPIPE' | 'EAGAIN'
  constructor(code: 'EPIPE' | 'EAGAIN', message: string) {
    super(message)
    this.name = 'StdinFailure'
    this.code = code
  }
}

/** What a write came to, as the system would have said it of a pipe. */
export function failureOf(status: WriteStatus): StdinFailure | undefined {
  switch (status) {
    case 'accepted':
      return undefined
    case 'unknownProcess':
      return new StdinFailure('EPIPE', 'unknown process')
    case 'stdinClosed':
      return new StdinFailure('EPIPE', 'stdin closed')
    case 'starting':
      return new StdinFailure('EAGAIN', 'process is starting')
  }
}
