import { CommandError } from './command-error.ts'
import type { Io } from './io.ts'

const FORCED_EXIT = 1
const INTERRUPTED_EXIT = 130
/** What was being opened when the end came may hold the process, a connection that nobody answers most of all: it gets this long. */
const LATE_MS = 1_000

export interface HeardEnd {
  /** Settles when the first signal came. */
  readonly asked: Promise<void>
  /** The same for what can be given up half-way. */
  readonly signal: AbortSignal
  /** Waits for what must be there before the command can serve; a signal ends that too. `late` closes what comes after all. */
  before<Value>(opening: Promise<Value>, what: string, late?: (value: Value) => Promise<unknown>): Promise<Value>
  readonly ignore: () => void
}

/** Hears the signals that tell a server of ours to end: the first asks it to, a second one ends it at once. */
export function hearEnd(io: Pick<Io, 'onSignal'>): HeardEnd {
  const asked = Promise.withResolvers<void>()
  const ending = new AbortController()
  let times = 0
  const ignore = io.onSignal(() => {
    times += 1
    if (times > 1) process.exit(FORCED_EXIT)
    ending.abort()
    asked.resolve()
  })
  const before = async <Value>(opening: Promise<Value>, what: string, late?: (value: Value) => Promise<unknown>) => {
    const opened = opening.then((value) => ({ value }))
    const first = await Promise.race([opened, asked.promise])
    if (first !== undefined) return first.value
    opened.then(({ value }) => late?.(value)).catch(() => {})
    setTimeout(() => process.exit(INTERRUPTED_EXIT), LATE_MS).unref()
    throw new CommandError('interrupted', `ended before ${what} was there`, { exitCode: INTERRUPTED_EXIT })
  }
  return { asked: asked.promise, signal: ending.signal, before, ignore }
}
