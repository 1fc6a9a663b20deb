/** Where an answer first differs from what is expected, in words, with a piece of both around the place. */
export interface Mismatch {
  readonly message: string
  readonly expectedPreview: Uint8Array
  readonly actualPreview: Uint8Array
}
