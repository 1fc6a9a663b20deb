const FILE = 'PK\u0003\u0004'
const END = 'PK\u0005\u0006'
/** The end of a zip may be followed by a comment of so many bytes. */
const END_BYTES = 22 + 65_535

/** Whether it is worth sending as a zip. A damaged one passes: what is wrong with it, the gateway says best. */
export function looksLikeZip(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, FILE.length) === FILE || bytes.subarray(-END_BYTES).includes(END, 0, 'latin1')
}
