import type { Queries } from '@parley/database'
import { MAX_PAGE_BYTES } from '../limits.ts'
import type { Head } from './head.ts'
import type { Position } from './log.ts'
import { readBytes, readPage } from './page.ts'

/** What is left to append of what a writer sent, after what already stands there. */
export type Continuation =
  | { readonly kind: 'rest'; readonly entries: readonly Uint8Array[] }
  | { readonly kind: 'repeated' }
  | { readonly kind: 'mismatch' }

/** Compares what was sent for `at` with what stands there: a resend is recognised, a gap or a difference refused. */
export async function continuation(
  queries: Queries,
  head: Head,
  entries: readonly Uint8Array[],
  at: Position | undefined,
): Promise<Continuation> {
  if (at === undefined) return { kind: 'rest', entries }
  return 'offset' in at ? byOffset(queries, head, entries, at.offset) : bySeq(queries, head, entries, at.seq)
}

async function byOffset(queries: Queries, head: Head, entries: readonly Uint8Array[], offset: number): Promise<Continuation> {
  if (offset > head.offset || offset < head.firstOffset) return { kind: 'mismatch' }
  const sent = Buffer.concat(entries)
  const overlap = Math.min(sent.length, head.offset - offset)
  const there = await readBytes(queries, head, offset, overlap)
  if (!sent.subarray(0, overlap).equals(there)) return { kind: 'mismatch' }
  return overlap === sent.length ? { kind: 'repeated' } : { kind: 'rest', entries: skipBytes(entries, overlap) }
}

async function bySeq(queries: Queries, head: Head, entries: readonly Uint8Array[], seq: number): Promise<Continuation> {
  if (seq > head.seq || seq < head.firstSeq) return { kind: 'mismatch' }
  const overlap = Math.min(entries.length, head.seq - seq)
  for (let done = 0; done < overlap;) {
    const page = await readPage(queries, head, { seq: seq + done }, MAX_PAGE_BYTES)
    if (page.entries.length === 0) return { kind: 'mismatch' }
    for (const there of page.entries.slice(0, overlap - done)) {
      const sent = entries[done]
      if (sent === undefined || Buffer.compare(sent, there.bytes) !== 0) return { kind: 'mismatch' }
      done += 1
    }
  }
  return overlap === entries.length ? { kind: 'repeated' } : { kind: 'rest', entries: entries.slice(overlap) }
}

/** Entries without their first `count` bytes; an entry that is cut in the middle keeps its end. */
function skipBytes(entries: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  const rest: Uint8Array[] = []
  let skip = count
  for (const entry of entries) {
    if (skip < entry.length) rest.push(skip === 0 ? entry : entry.subarray(skip))
    skip = Math.max(0, skip - entry.length)
  }
  return rest
}
