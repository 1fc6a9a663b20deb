import type { Io } from '@parley/command-line'
import type { Loaded } from './load.ts'

/** Who was told already: a command may read its settings more than once. */
const told = new WeakMap<object, Set<string>>()

/** Says on stderr what lies there and does not count, each once. */
export function tellNotices(
  io: Pick<Io, 'err'>,
  { notices }: Pick<Loaded, 'notices'>,
  say: (line: string) => void = (line) => io.err(`${line}\n`),
): void {
  const said = told.get(io) ?? new Set<string>()
  told.set(io, said)
  for (const { key, message } of notices) {
    const line = `${key} ${message}`
    if (!said.has(line)) say(line)
    said.add(line)
  }
}
