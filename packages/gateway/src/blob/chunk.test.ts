import { JOB_LIMITS } from '@parley/protocol'
import { expect, test } from 'vitest'
import { readChunk } from './chunk.ts'

const { chunkBytes } = JOB_LIMITS

test('a chunk has as many bytes as one may have, and not one more', () => {
  for (const size of [0, 1, 2, 3, chunkBytes]) {
    const bytes = Buffer.alloc(size, 'a')
    expect(readChunk(bytes.toString('base64')).equals(bytes)).toBe(true)
    expect(readChunk(bytes.toString('base64').replace(/=+$/, '')).equals(bytes)).toBe(true)
  }
  for (const more of [1, 2, 3, chunkBytes])
    expect(() => readChunk(Buffer.alloc(chunkBytes + more).toString('base64'))).toThrow(`is larger than ${chunkBytes} bytes`)
  for (const text of ['a', 'aa=', 'a b=', 'aaaa\n', 'aa-_']) expect(() => readChunk(text)).toThrow('chunk_b64: is not base64')
})
