import * as z from 'zod'
import { UploadId } from '../ids.ts'
import { JOB_LIMITS } from '../job/limits.ts'
import { ADDS, ENDS, SETS, tool } from '../tool.ts'

export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')

export const blobBegin = tool({
  name: 'blob.begin',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Begins an upload for what does not fit into one call. `bytes` is checked against your share at once.',
  input: z.strictObject({ bytes: z.int().min(0).optional() }),
  output: z.object({ upload_id: UploadId, chunk_bytes: z.int() }),
  annotations: ADDS,
})

export const blobWrite = tool({
  name: 'blob.write',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Adds the next chunk. A resend of the last one is harmless; a gap answers with the offset to go on from.',
  input: z.strictObject({ upload_id: UploadId, offset: z.int().min(0).max(JOB_LIMITS.blobBytes), chunk_b64: z.string() }),
  output: z.object({ ok: z.boolean(), code: z.literal('offset_mismatch').optional(), next_offset: z.int() }),
  annotations: SETS,
})

export const blobCommit = tool({
  name: 'blob.commit',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Ends an upload. The answer is what job.create takes as `tests_blob`; kept for a day unless a job uses it.',
  input: z.strictObject({ upload_id: UploadId, sha256: Sha256.optional() }),
  output: z.object({ sha256: Sha256, bytes: z.int() }),
  annotations: SETS,
})

export const blobAbort = tool({
  name: 'blob.abort',
  roles: ['user'],
  scopes: ['jobs'],
  doc: 'Throws an unfinished upload away.',
  input: z.strictObject({ upload_id: UploadId }),
  output: z.object({ upload_id: UploadId, aborted: z.literal(true) }),
  annotations: ENDS,
})
