import { isUtf8 } from 'node:buffer'
import { JOB_LIMITS } from '@parley/protocol'
import { type Entry, getFileNameLowLevel } from 'yauzl'
import { refuseEntry } from './zip-refused.ts'

/** What file systems and the rest of the protocol take. */
const SEGMENT_BYTES_MAX = 255
/** With `tests/` before it, what a judge takes. */
const PATH_BYTES_MAX = 1_000
const UTF8_FLAG = 0x800
const UNICODE_PATH_FIELD = 0x7075

/** The name of an entry as its maker meant it: many write UTF-8 without saying so. */
export function entryName(entry: Entry): string {
  const saysUtf8 = (entry.generalPurposeBitFlag & UTF8_FLAG) !== 0
  const hasOwnField = entry.extraFields.some(({ id }) => id === UNICODE_PATH_FIELD)
  if (!saysUtf8 && !hasOwnField && isUtf8(entry.fileNameRaw)) return entry.fileNameRaw.toString('utf8')
  return getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true)
}

/** The path of an entry, in one spelling; a folder's without its slash. Throws for what must not become a path. */
export function entryPath(name: string): string {
  const refuse = (fault: string, hint?: string) => refuseEntry(name, fault, hint)
  if (name === '') throw refuse('has no name')
  if (/\p{Cc}/u.test(name)) throw refuse('has a control character in its name')
  if (name.includes('\uFFFD')) throw refuse('has a name that is not UTF-8')
  if (name.includes('\\')) throw refuse('has a backslash in its name', 'make the zip with / between folders')
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw refuse('has an absolute path')
  const path = (name.endsWith('/') ? name.slice(0, -1) : name).normalize('NFC')
  const segments = path.split('/')
  if (segments.includes('..')) throw refuse('leaves the folder it would be unpacked to')
  if (segments.some((segment) => segment === '' || segment === '.')) throw refuse('has an empty part or a . in its path')
  if (segments.length > JOB_LIMITS.zipDepth + (segments[0] === 'tests' ? 1 : 0))
    throw refuse(`is more than ${JOB_LIMITS.zipDepth} folders deep`)
  if (Buffer.byteLength(path) > PATH_BYTES_MAX || segments.some((segment) => Buffer.byteLength(segment) > SEGMENT_BYTES_MAX))
    throw refuse('has too long a name')
  return path
}

/** What some machines add to every zip. */
export function isJunk(path: string): boolean {
  return path === '__MACOSX' || path.startsWith('__MACOSX/') || path.endsWith('/.DS_Store') || path === '.DS_Store'
}
