import { NO_TOKENS, type TokenUsage } from '@parley/protocol'

const BYTES_PER_TOKEN = 4
/** An image costs about this much, however many bytes it has. */
const IMAGE_TOKENS = 1_000
const DATA_URL = /data:image\/[^"]+/g

/** About how many tokens a request took when nobody says: a quarter of the bytes on both sides. */
export function estimateTokens(requestBody: string, saidBytes: number): TokenUsage {
  let images = 0
  const text = requestBody.replaceAll(DATA_URL, () => {
    images += 1
    return ''
  })
  const input = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN) + images * IMAGE_TOKENS
  return { ...NO_TOKENS, input_tokens: input, output_tokens: Math.ceil(saidBytes / BYTES_PER_TOKEN) }
}
