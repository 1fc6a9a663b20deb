import type { Database } from '@parley/database'
import { Follower } from './follower.ts'
import { findHead } from './head.ts'
import type { LogEntry, LogPage, Position } from './log.ts'
import { readPage } from './page.ts'
import type { Tails } from './tails.ts'

interface Follow {
  readonly name: string
  readonly from: Position
  readonly bufferBytes: number
  readonly signal: AbortSignal | undefined
}

/**
 * Yields every entry from a position on, once. At most twice `bufferBytes`, or one larger entry, is in memory: one page
 * that was read and what was pushed meanwhile. Ends when the log is closed and read, deleted, or the signal fires.
 */
export async function* follow(
  db: Database,
  tails: Tails,
  { name, from, bufferBytes, signal }: Follow,
): AsyncGenerator<LogEntry, void, undefined> {
  const follower = new Follower(bufferBytes)
  const leave = tails.join(name, follower)
  const end = () => {
    leave()
    follower.end()
  }
  // An abort frees the buffer at once, also while nobody asks for the next entry.
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted === true) end()
  try {
    yield* entries(db, follower, name, from, bufferBytes)
  } catch (error) {
    // A store that closes ends its followers. That a read failed because of it is no error.
    if (!db.signals.ended) throw error
  } finally {
    signal?.removeEventListener('abort', end)
    end()
  }
}

async function* entries(
  db: Database,
  follower: Follower,
  name: string,
  from: Position,
  bufferBytes: number,
): AsyncGenerator<LogEntry, void, undefined> {
  let cursor = from
  let logId: number | undefined
  let started = false
  while (!follower.done && !db.signals.ended) {
    const pushed = follower.take()
    if (pushed !== undefined) {
      // A page that was read since may have had it already.
      if ('seq' in cursor && pushed.seq < cursor.seq) continue
      cursor = { seq: pushed.seq + 1 }
      started = true
      yield pushed
    } else if (follower.waitsFor !== undefined) {
      await follower.waiting()
    } else {
      // Before the read, so that what is written during it is in the page, or pushed, or makes us read again.
      if ('seq' in cursor) follower.live(cursor.seq)
      const head = await findHead(db, name)
      // It was deleted, and perhaps another one has its name.
      if (head === undefined ? started : logId !== undefined && head.id !== logId) return
      if (head !== undefined) started = true
      logId = head?.id
      const page = head === undefined ? NOTHING : await readPage(db, head, cursor, bufferBytes)
      for (const entry of page.entries) {
        yield entry
        if (follower.done) return
      }
      if (page.closed) return
      cursor = { seq: page.next.seq }
      follower.readTo(page.next.seq)
    }
  }
}

const NOTHING: LogPage = { entries: [], next: { seq: 0, offset: 0 }, closed: false }
