/** What is kept of each stream for the end of a command; the pieces were told as they came. */
const KEPT_BYTES = 256 * 1024

/** What a command has printed so far. */
export class CommandOutput {
  readonly #parts = { stdout: new Array<Uint8Array>(), stderr: new Array<Uint8Array>() }
  readonly #room = { stdout: KEPT_BYTES, stderr: KEPT_BYTES }

  add(stream: 'stdout' | 'stderr', bytes: Uint8Array): void {
    const part = bytes.subarray(0, this.#room[stream])
    this.#room[stream] -= part.byteLength
    if (part.byteLength > 0) this.#parts[stream].push(part)
  }

  /** `whole` is both streams as the engine has them; what was never told in pieces is taken for the standard output. */
  texts(whole: string): { readonly stdout: string; readonly stderr: string; readonly output: string } {
    const stdout = Buffer.concat(this.#parts.stdout).toString('utf8')
    const stderr = Buffer.concat(this.#parts.stderr).toString('utf8')
    if (stdout === '' && stderr === '') return { stdout: whole, stderr: '', output: whole }
    return { stdout, stderr, output: whole === '' ? `${stdout}${stderr}` : whole }
  }
}
