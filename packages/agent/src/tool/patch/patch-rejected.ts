/** A patch that cannot be read or does not fit the files; the message tells the model what to mend. */
export class PatchRejected extends Error {
  readonly code = 'patch_rejected'
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'PatchRejected'
  }
}
