import { JOB_LIMITS } from '@parley/protocol'
import { ZipRefused } from './zip-refused.ts'

const { zipInCallBytes } = JOB_LIMITS
const MIB = 1024 * 1024
const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/

/** The bytes of a text in base64, with or without its padding. Node reads on past anything, so the rest is found out before. */
export function decodeBase64(text: string): Buffer | undefined {
  const digits = text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)
  const isPadded = digits !== text.length
  if (digits % 4 === 1 || (isPadded && text.length % 4 !== 0) || !ALPHABET.test(text)) return undefined
  return Buffer.from(text, 'base64')
}

/** The bytes of a zip that came in one call. */
export function decodeZip(text: string): Buffer {
  if (text.length > 4 * Math.ceil(zipInCallBytes / 3))
    throw new ZipRefused(
      `is larger than the ${zipInCallBytes / MIB} MiB that one call takes`,
      'upload it with blob.begin, blob.write and blob.commit, and name it as tests_blob',
    )
  const bytes = decodeBase64(text)
  if (bytes === undefined)
    throw new ZipRefused('is not base64', 'standard base64 of the bytes of the zip, without line breaks or a data: prefix')
  return bytes
}
