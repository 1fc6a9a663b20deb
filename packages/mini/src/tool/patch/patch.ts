/** One line of a change: kept, taken away or added. */
export interface PatchLine {
  readonly kind: 'context' | 'remove' | 'add'
  readonly text: string
  /** An empty line without its leading blank: perhaps meant as context, perhaps only to part two changes. */
  readonly bare: boolean
}

/** One place of a file that changes. */
export interface Chunk {
  /** Where in the patch it stands, for words about it; the first line is 1. */
  readonly line: number
  /** Lines that come before, one after the other, not necessarily next to the change. */
  readonly anchors: readonly string[]
  readonly lines: readonly PatchLine[]
  /** The change is at the end of the file. */
  readonly atEnd: boolean
}

export type PatchSection =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly movedTo: string | null; readonly chunks: readonly Chunk[] }

/** A patch that cannot be read or does not fit the files; the message tells the model what to mend. */
export class PatchRejected extends Error {
  readonly code = 'patch_rejected'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PatchRejected'
  }
}
