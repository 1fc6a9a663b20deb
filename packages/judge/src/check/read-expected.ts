import { readFile, stat } from 'node:fs/promises'
import { AT_ONCE_BYTES, type ExpectedAnswer, ExpectedUnreadable } from './comparison.ts'

/** Looks at what is expected, and reads it if it is short. Throws `ExpectedUnreadable`. */
export async function readExpected(path: string): Promise<ExpectedAnswer> {
  try {
    const { size } = await stat(path)
    return size > AT_ONCE_BYTES ? { kind: 'file', path, sizeBytes: size } : { kind: 'bytes', bytes: await readFile(path) }
  } catch (cause) {
    throw new ExpectedUnreadable({ cause })
  }
}
