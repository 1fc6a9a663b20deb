import { type Database, text } from '@parley/database'
import { DROP, STALE_HOLDERS } from './statements.ts'

/** Holds that go in one transaction: others write in between. */
const HOLDS_PER_STEP = 100
/** Greater than every character that may follow a prefix. */
const LAST = '\u{10FFFF}'

/** Drops the holds of all holders below a prefix on blobs that nobody touched since; answers how many. */
export async function dropStale(db: Database, prefix: string, before: number): Promise<number> {
  for (let dropped = 0; ;) {
    const step = await dropSome(db, prefix, before)
    if (step === 0) return dropped
    dropped += step
  }
}

function dropSome(db: Database, prefix: string, before: number): Promise<number> {
  return db.transaction(async (tx) => {
    const stale = await tx.all(STALE_HOLDERS, [prefix, prefix + LAST, before, HOLDS_PER_STEP])
    for (const row of stale) await tx.run(DROP, [text(row, 'sha256'), text(row, 'holder')])
    return stale.length
  })
}
