import { ToolError } from '@parley/protocol'
import type { Blobs, JobArtifact } from '@parley/store'

/** The text of an artifact. */
export async function readArtifact(blobs: Blobs, artifact: JobArtifact): Promise<string> {
  const pieces: Uint8Array[] = []
  let offset = 0
  for (;;) {
    const piece = await blobs.read(artifact.sha256, offset, READ_BYTES)
    // The job was deleted between the list and this.
    if (piece === undefined) throw new ToolError('not_found', `${artifact.name} is gone`)
    pieces.push(piece.bytes)
    offset += piece.bytes.length
    if (piece.eof) return Buffer.concat(pieces).toString('utf8')
  }
}

const READ_BYTES = 1024 * 1024
