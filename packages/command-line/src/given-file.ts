import { type Stats, closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from './command-error.ts'
import { atPath } from './path-failure.ts'

/** A file that a command line names. */
export interface GivenFile {
  /** The option or the argument: `--code`, `FILE`. */
  readonly what: string
  /** What was given there; `-` is standard input. */
  readonly file: string
  readonly cwd: string
}

const STDIN = 0
const PIECE_BYTES = 64 * 1024
/** Opening waits for nobody: a named pipe without a writer would hold us for ever. Windows has no such thing. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
/** What a shell makes of `<(command)`: a pipe that is open already. */
const OPEN_ALREADY = /^\/(?:dev|proc\/self)\/fd\/\d+$|^\/dev\/stdin$/

const labelOf = ({ what, file }: GivenFile): string => `${what} ${file === '-' ? '- (stdin)' : file}`

/** The bytes of a file that the command line names. Whatever keeps it from being read is one line with a way out. */
export function readGiven(given: GivenFile, limitBytes: number): Buffer {
  return atPath(labelOf(given), () => {
    const { file, cwd } = given
    if (file === '-') return readUpTo(STDIN, given, limitBytes)
    const path = resolve(cwd, file)
    const fd = openSync(path, OPEN_ALREADY.test(path) ? constants.O_RDONLY : AT_ONCE)
    try {
      checkReadable(given, path, fstatSync(fd), limitBytes)
      return readUpTo(fd, given, limitBytes)
    } finally {
      closeSync(fd)
    }
  })
}

/** The same as text. What is no text, or none at all, is wrong usage. */
export function readGivenText(given: GivenFile, limitBytes: number): string {
  const label = labelOf(given)
  const bytes = readGiven(given, limitBytes)
  if (bytes.includes(0)) throw usageError(`${label} is a binary file; text is needed`, 'give the source, not what was compiled')
  const text = decode(bytes)
  if (text === undefined) throw usageError(`${label} is not UTF-8 text`, 'convert it: iconv -f latin1 -t utf-8')
  if (text.trim() === '') throw usageError(`${label} is empty`)
  return text
}

/** The first line of a file, without spaces around it: a token, a password, a key. */
export function readGivenLine(given: GivenFile): string {
  const line = readGivenText(given, LINE_FILE_BYTES).split('\n')[0]?.trim() ?? ''
  if (line === '') throw usageError(`${labelOf(given)}: the first line is empty`, 'put it into the first line')
  return line
}
/** More than this is no file of one line. */
const LINE_FILE_BYTES = 64 * 1024

/** Whether there is a file that can be read, for whoever reads it by its path. Answers the path. */
export function checkGiven(given: GivenFile): string {
  return atPath(labelOf(given), () => {
    const path = resolve(given.cwd, given.file)
    const fd = openSync(path, AT_ONCE)
    try {
      checkReadable(given, path, fstatSync(fd), Number.POSITIVE_INFINITY)
      return path
    } finally {
      closeSync(fd)
    }
  })
}

function checkReadable(given: GivenFile, path: string, found: Stats, limitBytes: number): void {
  const refuse = (said: string, hint: string) => usageError(`${labelOf(given)}: ${said}`, hint)
  if (found.isDirectory()) throw refuse('is a folder, and a file is needed', 'name a file in it')
  if (found.isFIFO() && !OPEN_ALREADY.test(path)) throw refuse('is a named pipe, which may never end', PIPE_IT)
  if (found.isSocket()) throw refuse('is a socket, and a file is needed', PIPE_IT)
  if ((found.isCharacterDevice() || found.isBlockDevice()) && !isHarmless(path))
    throw refuse('is a device, and a file is needed', PIPE_IT)
  if (found.isFile() && found.size > limitBytes)
    throw refuse(`has ${found.size} bytes, ${limitBytes} are allowed`, 'give a smaller one')
}
const PIPE_IT = 'name a file'

/** Of all devices the empty one ends at once; what is open already is somebody's choice. */
const isHarmless = (path: string): boolean => OPEN_ALREADY.test(path) || realpathSync(path) === '/dev/null'

function readUpTo(fd: number, given: GivenFile, limitBytes: number): Buffer {
  const pieces: Buffer[] = []
  let bytes = 0
  for (;;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    const read = readSync(fd, piece)
    if (read === 0) return Buffer.concat(pieces)
    bytes += read
    if (bytes > limitBytes)
      throw usageError(`${labelOf(given)} has more than ${limitBytes} bytes, which are allowed`, 'give a smaller one')
    pieces.push(piece.subarray(0, read))
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
