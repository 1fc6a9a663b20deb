import { createHash } from 'node:crypto'
import type { SteadyClient } from '@parley/client'
import { JOB_LIMITS } from '@parley/protocol'
import { CommandError } from '@parley/command-line'

/** How `job.create` gets the tests: within the call, or by a name for bytes that went before. */
export async function sendTests(
  caller: SteadyClient,
  zip: Uint8Array,
): Promise<{ tests_zip_b64: string } | { tests_blob: string }> {
  if (zip.length <= JOB_LIMITS.zipInCallBytes) return { tests_zip_b64: Buffer.from(zip).toString('base64') }
  const { upload_id, chunk_bytes } = await caller.once('blob.begin', { bytes: zip.length })
  const most = Math.max(1, chunk_bytes)
  // A gap answers where to go on; so many at most, or the two of us will never agree.
  let left = Math.ceil(zip.length / most) * 2 + 8
  for (let offset = 0; offset < zip.length; left -= 1) {
    if (left === 0) throw new CommandError('upload_failed', 'the gateway does not take the tests in order')
    const chunk = Buffer.from(zip.subarray(offset, offset + most))
    const { next_offset } = await caller.call('blob.write', { upload_id, offset, chunk_b64: chunk.toString('base64') })
    offset = next_offset
  }
  const sha256 = createHash('sha256').update(zip).digest('hex')
  return { tests_blob: (await caller.call('blob.commit', { upload_id, sha256 })).sha256 }
}
