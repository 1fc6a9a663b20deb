import { type Database, text } from '@parley/database'
import { UPLOAD_AGE_MS } from '../limits.ts'
import { breathe } from './chunks.ts'
import { dropStale } from './drop-stale.ts'
import { LEFT_HOLDERS } from '../share/holder.ts'
import {
  ADD_GARBAGE,
  DELETE_BLOB,
  DELETE_CHUNKS,
  FORGET_GARBAGE,
  FORGET_UPLOAD,
  GARBAGE,
  STALE_UPLOADS,
  UNREFERENCED,
} from './statements.ts'

/** Blobs that leave in one transaction, and rows of their bytes in another: others write in between. */
const BLOBS_PER_STEP = 100
const ROWS_PER_STEP = 16

/**
 * What was let go of long enough ago is nobody's any more. First the names go, in transactions that check again that nobody refers
 * to them; then the bytes, row by row. What a crash leaves in `blob_garbage` the next collection takes away.
 */
export async function collect(
  db: Database,
  now: number,
  graceMs: number,
): Promise<{ readonly blobs: number; readonly uploads: number }> {
  const uploads = await removeUploads(db, now - Math.max(UPLOAD_AGE_MS, graceMs))
  await dropStale(db, LEFT_HOLDERS, now - graceMs)
  let blobs = 0
  for (let removed = -1; removed !== 0; blobs += removed) removed = await removeBlobs(db, now - graceMs)
  while (await removeBytes(db)) await breathe()
  return { blobs, uploads }
}

function removeUploads(db: Database, before: number): Promise<number> {
  return db.transaction(async (tx) => {
    const stale = await tx.all(STALE_UPLOADS, [before])
    for (const row of stale) await tx.run(ADD_GARBAGE, [text(row, 'id')])
    return stale.length
  })
}

/**
 * Removes the bytes of an upload that is over, and then its row, which counts for its owner until then. What a crash leaves is
 * old enough for the next collection.
 */
export async function removeUpload(db: Database, upload: string): Promise<void> {
  while ((await db.run(DELETE_CHUNKS, [upload, ROWS_PER_STEP])) > 0) await breathe()
  await db.run(FORGET_UPLOAD, [upload])
}

function removeBlobs(db: Database, before: number): Promise<number> {
  return db.transaction(async (tx) => {
    let removed = 0
    for (const row of await tx.all(UNREFERENCED, [before, BLOBS_PER_STEP])) {
      const gone = await tx.get(DELETE_BLOB, [text(row, 'sha256'), before])
      if (gone === undefined) continue
      await tx.run(ADD_GARBAGE, [text(gone, 'content')])
      removed += 1
    }
    return removed
  })
}

async function removeBytes(db: Database): Promise<boolean> {
  const garbage = await db.get(GARBAGE, [])
  if (garbage === undefined) return false
  const content = text(garbage, 'content')
  if ((await db.run(DELETE_CHUNKS, [content, ROWS_PER_STEP])) === 0) await db.run(FORGET_GARBAGE, [content])
  return true
}
