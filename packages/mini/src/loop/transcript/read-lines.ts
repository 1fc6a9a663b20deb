import { type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import type { TranscriptEntry } from '@parley/agent'

export const isEntry = (value: JsonValue | undefined): value is TranscriptEntry =>
  isJsonObject(value) && typeof value['type'] === 'string'

export type ReadLines =
  /** `wholeBytes`: up to where the lines are whole; what is behind was cut off in the middle of a write. */
  | { readonly kind: 'read'; readonly entries: readonly TranscriptEntry[]; readonly wholeBytes: number }
  | { readonly kind: 'damaged'; readonly line: number }

const NEWLINE = 10

/** Reads a log of one JSON object a line. Only at the very end may something be broken: writes are in order. */
export function readLines(bytes: Uint8Array): ReadLines {
  const entries: TranscriptEntry[] = []
  const decoder = new TextDecoder()
  let start = 0
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    const entry = parseJson(decoder.decode(bytes.subarray(start, end)))
    if (isEntry(entry)) entries.push(entry)
    else if (end + 1 < bytes.length) return { kind: 'damaged', line: entries.length + 1 }
    else return { kind: 'read', entries, wholeBytes: start }
    start = end + 1
  }
  return { kind: 'read', entries, wholeBytes: start }
}
