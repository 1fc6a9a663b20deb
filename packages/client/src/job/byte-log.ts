/** How far a log of bytes was told. */
export class ByteLog {
  #told = 0

  get told(): number {
    return this.#told
  }
  get read(): number {
    return this.#told
  }

  /** What of the bytes that end at this one was not told yet; from now on it was. Pieces may overlap, and never leave a gap. */
  take(bytes: Uint8Array, end: number): Uint8Array {
    const known = Math.max(0, this.#told - (end - bytes.length))
    if (known >= bytes.length) return new Uint8Array()
    this.#told = end
    return bytes.subarray(known)
  }

  /** Goes on at another byte. */
  from(offset: number): void {
    this.#told = offset
  }
}
