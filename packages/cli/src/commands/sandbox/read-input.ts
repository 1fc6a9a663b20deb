import { fstatSync } from 'node:fs'
import { messageOf } from '@parley/protocol'
import type { RunInput } from '@parley/sandbox'
import { CommandError, type Invocation, usageError } from '@parley/command-line'
import { readGiven } from '@parley/command-line/commands'

const MIB = 1024 * 1024
/** The whole of it is in memory before the program starts. */
const INPUT_MAX_BYTES = 256 * MIB
/** A pipe that nobody closes looks like a command that hangs: after this long somebody should be told. */
const SILENT_MS = 2_000

/** What the program reads: the file of `--stdin`, or what is piped into this command; of a terminal nothing. */
export async function readInput({ io, values }: Pick<Invocation, 'io' | 'values'>): Promise<RunInput> {
  const file = values.text('stdin')
  if (file === undefined && !isPiped()) return { kind: 'empty' }
  if (file !== undefined && file !== '-')
    return { kind: 'bytes', bytes: readGiven({ what: '--stdin', file, cwd: io.cwd }, INPUT_MAX_BYTES) }
  const hint = 'reading standard input to its end first; --stdin /dev/null gives the program none\n'
  const silent = setTimeout(() => io.err(hint), SILENT_MS)
  try {
    return { kind: 'bytes', bytes: await readAll(io.stdin, 'standard input') }
  } finally {
    clearTimeout(silent)
  }
}

/** A terminal is not read: the limits run by the clock. Neither are devices, nor a stream that is not open. */
function isPiped(): boolean {
  try {
    const found = fstatSync(0)
    return found.isFIFO() || found.isFile() || found.isSocket()
  } catch {
    return false
  }
}

async function readAll(stream: NodeJS.ReadableStream, what: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of stream) {
      const piece = Buffer.from(chunk)
      bytes += piece.length
      if (bytes > INPUT_MAX_BYTES)
        throw usageError(`${what} has more than ${INPUT_MAX_BYTES / MIB} MiB, which is the most that a program can be given`)
      chunks.push(piece)
    }
  } catch (cause) {
    if (cause instanceof CommandError) throw cause
    throw usageError(`${what} cannot be read: ${messageOf(cause)}`)
  }
  return Buffer.concat(chunks)
}
