import { type Dirent, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { JOB_LIMITS } from '@parley/protocol'
import { plainText } from '@parley/screen'
import { atPath, usageError } from '@parley/command-line'

const UTF8_NAMES = 0x0800
const DEFLATED = 8
const VERSION = 20
const PLAIN_FILE = (0o100644 << 16) >>> 0
const MADE_ON_UNIX = (3 << 8) | VERSION

/**
 * A folder of tests as a zip, so that nobody needs a program for it. Links and special files are refused, as in a zip: a case that is left
 * out would be one that nobody judges. `what` names it in errors.
 */
export function zipFolder(folder: string, what: string): Buffer {
  const files = filesIn(folder, what).toSorted()
  if (files.length === 0) throw usageError(`${what} holds no files`)
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const path of files) {
    const bytes = atPath(`${what}, in it ${relative(folder, path)}`, () => readFileSync(path))
    const name = Buffer.from(relative(folder, path).split(sep).join('/'))
    const packed = deflateRawSync(bytes)
    const about = aboutOf(bytes, packed.length, name.length)
    const head = Buffer.concat([u32(0x04034b50), u16(VERSION), about, u16(0), name])
    directory.push(
      Buffer.concat([
        u32(0x02014b50),
        u16(MADE_ON_UNIX),
        u16(VERSION),
        about,
        u16(0),
        u16(0),
        u16(0),
        u16(0),
        u32(PLAIN_FILE),
        u32(offset),
        name,
      ]),
    )
    parts.push(head, packed)
    offset += head.length + packed.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.concat([
    u32(0x06054b50),
    u16(0),
    u16(0),
    u16(files.length),
    u16(files.length),
    u32(index.length),
    u32(offset),
    u16(0),
  ])
  return Buffer.concat([...parts, index, end])
}

/** The files of a folder and of those in it. A folder that holds far more than tests is left before all of it is read. */
function filesIn(folder: string, what: string): string[] {
  const files: string[] = []
  const folders = [folder]
  let bytes = 0
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const here = next
    for (const entry of atPath(what, () => readdirSync(here, { withFileTypes: true }))) {
      const path = join(here, entry.name)
      if (entry.isDirectory()) {
        folders.push(path)
        continue
      }
      if (!entry.isFile()) throw usageError(`${what}, in it ${plainText(relative(folder, path))}: ${kindOf(entry)}`, ONLY_FILES)
      files.push(path)
      bytes += atPath(what, () => statSync(path)).size
    }
    if (files.length > JOB_LIMITS.zipEntries || folders.length > JOB_LIMITS.zipEntries)
      throw usageError(`${what} holds more than ${JOB_LIMITS.zipEntries} files, which are allowed`, ONLY_CASES)
    if (bytes > JOB_LIMITS.zipTotalBytes)
      throw usageError(`${what} holds more than ${JOB_LIMITS.zipTotalBytes} bytes, which are allowed`, ONLY_CASES)
  }
  return files
}
const ONLY_FILES = 'put a plain file in its place, or take it out'
const ONLY_CASES = 'name a folder that holds the cases alone'

function kindOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return 'is a link, and a file is needed'
  if (entry.isFIFO()) return 'is a named pipe, and a file is needed'
  if (entry.isSocket()) return 'is a socket, and a file is needed'
  return 'is a device, and a file is needed'
}

/** What stands in both headers of a file. The time is always the same, so that the same folder gives the same zip. */
function aboutOf(bytes: Buffer, packedBytes: number, nameBytes: number): Buffer {
  const firstOf1980 = 0x0021
  return Buffer.concat([
    u16(UTF8_NAMES),
    u16(DEFLATED),
    u16(0),
    u16(firstOf1980),
    u32(crc32(bytes)),
    u32(packedBytes),
    u32(bytes.length),
    u16(nameBytes),
  ])
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}
function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
