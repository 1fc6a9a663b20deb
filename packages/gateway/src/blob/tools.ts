import { serving, type ToolWorld } from '@parley/access'
import { JOB_LIMITS, TOOLS, ToolError, type UploadId } from '@parley/protocol'
import { type Blobs, HashMismatch, NotFound, TooLarge, UploadGap } from '@parley/store'
import { holderOf, withinShare } from './inputs-share.ts'
import { readChunk } from './chunk.ts'

const serveTool = serving<ToolWorld>()

const { blobBytes, chunkBytes, keptUploads, userUploads } = JOB_LIMITS

export const blobBegin = serveTool(TOOLS['blob.begin'], async ({ bytes = 0 }, context) => {
  const { caller, world } = context
  const { blobs, shares } = world.store
  const upload = await withinShare({ field: 'bytes' }, async () => {
    await shares.check(caller.userId, { bytes })
    if (bytes > blobBytes) throw tooLarge('bytes')
    return blobs.begin(holderOf(caller), { underWay: userUploads, kept: keptUploads })
  })
  context.target = upload
  return { upload_id: upload, chunk_bytes: chunkBytes }
})

export const blobWrite = serveTool(
  TOOLS['blob.write'],
  async ({ upload_id, offset, chunk_b64 }, context) => {
    const { caller, world } = context
    context.target = upload_id
    const chunk = readChunk(chunk_b64)
    try {
      const written = await withinShare({ field: 'chunk_b64' }, () =>
        ofUpload(upload_id, world.store.blobs.write(upload_id, holderOf(caller), offset, chunk)),
      )
      return { ok: true, next_offset: written.offset }
    } catch (error) {
      if (error instanceof UploadGap) return { ok: false, code: 'offset_mismatch' as const, next_offset: error.offset }
      if (error instanceof TooLarge) throw tooLarge('offset', error)
      throw error
    }
  },
  { audit: 'soon' },
)

export const blobCommit = serveTool(TOOLS['blob.commit'], async ({ upload_id, sha256 }, context) => {
  const { caller, world } = context
  const { blobs } = world.store
  const holder = holderOf(caller)
  context.target = upload_id
  try {
    return await blobs.commit(upload_id, holder, { holder, ...(sha256 === undefined ? {} : { sha256 }) })
  } catch (error) {
    if (error instanceof HashMismatch)
      throw new ToolError('invalid_argument', `sha256: ${error.message}`, {
        field: 'sha256',
        hint: 'the upload is still there: go on writing to it, commit it by its own hash, or blob.abort it',
        cause: error,
      })
    if (error instanceof UploadGap)
      throw new ToolError('conflict', 'somebody wrote to the upload meanwhile', { field: 'upload_id', hint: 'commit it again' })
    if (!(error instanceof NotFound)) throw error
    const stored = sha256 === undefined ? undefined : await committedBefore(blobs, sha256, holder)
    if (sha256 === undefined || stored === undefined) throw noSuchUpload(upload_id)
    return { sha256, bytes: stored.bytes }
  }
})

export const blobAbort = serveTool(TOOLS['blob.abort'], async ({ upload_id }, context) => {
  context.target = upload_id
  await ofUpload(upload_id, context.world.store.blobs.abort(upload_id, holderOf(context.caller)))
  return { upload_id, aborted: true as const }
})

/** A commit whose answer got lost is asked for again: what it stored is held. */
async function committedBefore(blobs: Blobs, sha256: string, holder: string): Promise<{ readonly bytes: number } | undefined> {
  return (await blobs.isHeld(sha256, holder)) ? blobs.stat(sha256) : undefined
}

const tooLarge = (field: string, cause?: unknown): ToolError =>
  new ToolError('invalid_argument', `${field}: an upload has at most ${blobBytes} bytes`, { field, cause })

async function ofUpload<Result>(upload: UploadId, answer: Promise<Result>): Promise<Result> {
  try {
    return await answer
  } catch (error) {
    throw error instanceof NotFound ? noSuchUpload(upload) : error
  }
}

const noSuchUpload = (upload: UploadId): ToolError =>
  new ToolError('not_found', `there is no upload ${upload}`, {
    field: 'upload_id',
    hint: 'blob.begin makes one; one that nobody wrote to for an hour is gone',
  })
