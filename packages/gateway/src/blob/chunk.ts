import { JOB_LIMITS, type ToolError, wrongArgument } from '@parley/protocol'
import { decodeBase64 } from '@parley/tests-zip'

const { chunkBytes } = JOB_LIMITS
const CHARS_MAX = 4 * Math.ceil(chunkBytes / 3)

/** The bytes of a chunk that came in base64. Throws `ToolError` `invalid_argument`. */
export function readChunk(text: string): Buffer {
  if (text.length > CHARS_MAX) throw tooLarge()
  const bytes = decodeBase64(text)
  if (bytes === undefined) throw wrongArgument('chunk_b64', 'is not base64')
  if (bytes.length > chunkBytes) throw tooLarge()
  return bytes
}

const tooLarge = (): ToolError => wrongArgument('chunk_b64', `is larger than ${chunkBytes} bytes`, 'send it in pieces')
