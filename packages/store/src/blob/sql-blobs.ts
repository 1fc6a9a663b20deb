import { createHash } from 'node:crypto'
import { UploadId, makeId } from '@parley/protocol'
import {
  type Database,
  type Queries,
  type Transaction,
  HashMismatch,
  InvalidArgument,
  NotFound,
  ShareExceeded,
  TooLarge,
  UploadGap,
  integer,
  text,
} from '@parley/database'
import { MAX_APPEND_BYTES, MAX_BLOB_BYTES, MAX_BLOB_READ_BYTES, checkInteger, checkName } from '../limits.ts'
import { checkBytes, lockShare } from '../share/steps.ts'
import { LOCK_SHARE } from '../share/statements.ts'
import type { Blobs } from './blob.ts'
import { appendChunks, hashChunks, readChunks } from './chunks.ts'
import { collect, removeUpload } from './collect.ts'
import { dropStale } from './drop-stale.ts'
import { personOfHolder } from '../share/holder.ts'
import * as sql from './statements.ts'

interface Stored {
  readonly sha256: string
  readonly bytes: number
}

/** Blobs as rows. An upload's bytes become the blob's by changing one name: nothing is copied. */
export class SqlBlobs implements Blobs {
  readonly #db: Database
  readonly #now: () => number
  readonly #random: (size: number) => Uint8Array

  constructor(db: Database, now: () => number, random: (size: number) => Uint8Array) {
    this.#db = db
    this.#now = now
    this.#random = random
  }

  async begin(owner: string, bounds?: Parameters<Blobs['begin']>[1]): Promise<UploadId> {
    checkName('owner', owner)
    const id = this.#newId()
    await this.#db.transaction(async (tx) => {
      if (bounds !== undefined) await checkUploads(tx, owner, bounds)
      await tx.run(sql.BEGIN_UPLOAD, [id, owner, this.#now()])
    })
    return id
  }

  async write(upload: UploadId, owner: string, offset: number, bytes: Uint8Array): Promise<{ readonly offset: number }> {
    checkInteger('offset', offset, 0)
    if (bytes.length > MAX_APPEND_BYTES) throw new TooLarge('the chunk', MAX_APPEND_BYTES)
    const person = personOfHolder(owner)
    return this.#db.transaction(async (tx) => {
      const bounds = person === undefined ? undefined : await lockShare(tx, person)
      const size = await uploadSize(tx, sql.UPLOAD_FOR_WRITE, upload, owner)
      if (offset + bytes.length > MAX_BLOB_BYTES) throw new TooLarge('the upload', MAX_BLOB_BYTES)
      if (offset > size) throw new UploadGap(upload, size)
      const there = await readChunks(tx, upload, offset, Math.min(size, offset + bytes.length))
      if (Buffer.compare(there, bytes.subarray(0, there.length)) !== 0) throw new UploadGap(upload, size)
      const rest = bytes.subarray(there.length)
      if (rest.length > 0 && person !== undefined && bounds !== undefined) await checkBytes(tx, person, bounds, rest.length)
      if (rest.length > 0) await appendChunks(tx, upload, size, rest)
      await tx.run(sql.GROW_UPLOAD, [upload, size + rest.length, this.#now()])
      return { offset: size + rest.length }
    })
  }

  async commit(upload: UploadId, owner: string, options: { readonly sha256?: string; readonly holder: string }): Promise<Stored> {
    checkName('holder', options.holder)
    const size = await uploadSize(this.#db, sql.UPLOAD, upload, owner)
    // Bytes that are there never change, so this may take its time outside the transaction.
    const sha256 = await hashChunks(this.#db, upload, size)
    if (options.sha256 !== undefined && options.sha256 !== sha256) throw new HashMismatch(options.sha256, sha256)
    const isNew = await this.#db.transaction(async (tx) => {
      if ((await tx.run(sql.END_UPLOAD, [upload, owner, size])) === 0) {
        throw new UploadGap(upload, await uploadSize(tx, sql.UPLOAD, upload, owner))
      }
      const isFirst = (await this.#name(tx, { sha256, bytes: size }, upload, options.holder)) === upload
      if (isFirst) await tx.run(sql.FORGET_UPLOAD, [upload])
      return isFirst
    })
    // Somebody had handed in the same: these bytes are nobody's, and count for whoever sent them until they are gone.
    if (!isNew) await removeUpload(this.#db, upload)
    return { sha256, bytes: size }
  }

  async abort(upload: UploadId, owner: string): Promise<void> {
    if ((await this.#db.run(sql.ABORT_UPLOAD, [upload, owner])) === 0) throw new NotFound(`upload ${upload}`)
    await removeUpload(this.#db, upload)
  }

  async put(bytes: Uint8Array, holder: string): Promise<Stored> {
    checkName('holder', holder)
    if (bytes.length > MAX_APPEND_BYTES) throw new TooLarge('the blob', MAX_APPEND_BYTES)
    const stored = { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
    const content = this.#newId()
    return this.#db.transaction(async (tx) => {
      const isNew = (await this.#name(tx, stored, content, holder)) === content
      if (isNew && bytes.length > 0) await appendChunks(tx, content, 0, bytes)
      return stored
    })
  }

  async read(
    sha256: string,
    offset: number,
    maxBytes: number,
  ): Promise<{ readonly bytes: Uint8Array; readonly eof: boolean } | undefined> {
    checkInteger('offset', offset, 0)
    checkInteger('maxBytes', maxBytes, 1)
    const blob = await this.#find(sha256)
    if (blob === undefined) return undefined
    const end = Math.min(blob.size, offset + Math.min(maxBytes, MAX_BLOB_READ_BYTES))
    const bytes = await readChunks(this.#db, blob.content, offset, end)
    // Collected between the two statements.
    if (bytes.length < end - offset) return undefined
    return { bytes, eof: end === blob.size }
  }

  async stat(sha256: string): Promise<{ readonly bytes: number } | undefined> {
    const blob = await this.#find(sha256)
    return blob && { bytes: blob.size }
  }

  async verify(sha256: string): Promise<boolean> {
    const blob = await this.#find(sha256)
    if (blob === undefined) throw new NotFound(`blob ${sha256}`)
    return (await hashChunks(this.#db, blob.content, blob.size)) === sha256
  }

  async hold(sha256: string, holder: string): Promise<void> {
    checkName('holder', holder)
    await this.#db.transaction(async (tx) => {
      if ((await tx.run(sql.TOUCH_BLOB, [sha256, this.#now()])) === 0) throw new NotFound(`blob ${sha256}`)
      await tx.run(sql.HOLD, [sha256, holder])
    })
  }

  async drop(sha256: string, holder: string): Promise<void> {
    await this.#db.transaction(async (tx) => {
      if ((await tx.run(sql.DROP, [sha256, holder])) > 0) await tx.run(sql.TOUCH_BLOB, [sha256, this.#now()])
    })
  }

  async isHeld(sha256: string, holder: string): Promise<boolean> {
    return (await this.#db.get(sql.IS_HELD, [sha256, holder])) !== undefined
  }

  async dropStale(holderPrefix: string, ageMs: number): Promise<number> {
    checkName('holderPrefix', holderPrefix)
    checkInteger('ageMs', ageMs, 0)
    return dropStale(this.#db, holderPrefix, this.#now() - ageMs)
  }

  async collect(graceMs: number): Promise<{ readonly blobs: number; readonly uploads: number }> {
    if (graceMs < 0) throw new InvalidArgument('graceMs', 'must not be negative')
    return collect(this.#db, this.#now(), graceMs)
  }

  /** Gives a content its name, unless another has it; answers the content that has it now. */
  async #name(tx: Queries, { sha256, bytes }: Stored, content: string, holder: string): Promise<string> {
    const row = await tx.get(sql.PUT_BLOB, [sha256, bytes, content, this.#now()])
    await tx.run(sql.HOLD, [sha256, holder])
    return row === undefined ? content : text(row, 'content')
  }

  async #find(sha256: string): Promise<{ readonly size: number; readonly content: string } | undefined> {
    const row = await this.#db.get(sql.BLOB, [sha256])
    return row && { size: integer(row, 'size'), content: text(row, 'content') }
  }

  #newId(): UploadId {
    return makeId(UploadId, 'upl', this.#random)
  }
}

/** Rows cost too, however few bytes they have: those under way and those that are kept are bounded in number. */
async function checkUploads(
  tx: Transaction,
  owner: string,
  bounds: { readonly underWay: number; readonly kept: number },
): Promise<void> {
  await tx.get(LOCK_SHARE, [owner])
  const row = await tx.get(sql.UPLOADS, [owner])
  if (row === undefined) return
  const underWay = integer(row, 'under_way')
  if (underWay >= bounds.underWay) throw new ShareExceeded('uploads', bounds.underWay)
  // Each that is under way may be kept without being asked about again.
  if (integer(row, 'kept') + underWay >= bounds.kept) throw new ShareExceeded('kept_uploads', bounds.kept)
}

async function uploadSize(queries: Queries, statement: typeof sql.UPLOAD, upload: UploadId, owner: string): Promise<number> {
  const row = await queries.get(statement, [upload, owner])
  if (row === undefined) throw new NotFound(`upload ${upload}`)
  return integer(row, 'size')
}
