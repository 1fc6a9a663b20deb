/** The beginning of a body, at most `limitBytes`; the rest is not waited for. */
export async function readErrorText(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    parts.push(piece)
    bytes += piece.byteLength
    if (bytes >= limitBytes) break
  }
  return Buffer.concat(parts).subarray(0, limitBytes).toString('utf8')
}
