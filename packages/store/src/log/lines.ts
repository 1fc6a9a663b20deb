import type { LogEntry } from './log.ts'

/** The lines of some entries, each of which ends with one. */
export function linesOf(entries: readonly Pick<LogEntry, 'bytes' | 'offset'>[]): { line: string; next_offset: number }[] {
  return entries.flatMap(({ bytes, offset }) => {
    let at = offset - bytes.length
    const text = Buffer.from(bytes).toString('utf8')
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => ({ line, next_offset: (at += Buffer.byteLength(line) + 1) }))
  })
}
