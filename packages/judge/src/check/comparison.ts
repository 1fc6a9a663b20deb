import type { CompareMode, FloatTolerance } from '@parley/protocol'

/** Both sides together: so much is compared in less time than a thread takes to begin. */
export const AT_ONCE_BYTES = 256 * 1024

/** What is expected. Only a short one is in memory: a long one stays on the disk until somebody compares with it. */
export type ExpectedAnswer =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string; readonly sizeBytes: number }

export interface Comparison {
  readonly mode: CompareMode
  /** For `floats`. */
  readonly tolerance: FloatTolerance
  readonly expected: ExpectedAnswer
  readonly actual: Uint8Array
}

/** What was expected cannot be read: the fault of this machine, not of the answer. */
export class ExpectedUnreadable extends Error {
  readonly code = 'expected_unreadable'
  constructor(options?: ErrorOptions) {
    super('what is expected cannot be read', options)
    this.name = 'ExpectedUnreadable'
  }
}
