import type { SteadyClient } from '@parley/client'
import type { AgentId } from '@parley/protocol'
import type { Invocation, OptionSpec } from '@parley/command-line'
import { wholeNumber } from '@parley/command-line/commands'
import { CallFold, type LoggedCall } from './call-fold.ts'
import { callLineText } from './call-line-text.ts'
import { type LoggedLine, readLog } from './read-lines.ts'

export const CALLS_OPTIONS = {
  from: { doc: 'from this offset on', value: 'OFFSET' },
  last: { doc: 'only so many of the newest', value: 'N' },
  follow: { doc: 'shows more as it comes, until Ctrl-C' },
} as const satisfies Record<string, OptionSpec>

export interface CallsWords {
  readonly from: number | undefined
  readonly last: number
}

const LEFT = 130
const OFFSET = { min: 0, max: Number.MAX_SAFE_INTEGER }
const LAST = { min: 1, max: 100_000 }
const OFFSET_CHARS = 8

export const callsWords = ({ values }: Pick<Invocation, 'values'>): CallsWords => ({
  from: wholeNumber(values, 'from', OFFSET),
  last: wholeNumber(values, 'last', LAST) ?? Infinity,
})

/** The log of an agent's calls: a line a call for people, and the lines as they are written for programs. */
export async function showCalls(
  caller: SteadyClient,
  agent_id: AgentId,
  { io, values }: Pick<Invocation, 'io' | 'values'>,
  { from, last }: CallsWords,
): Promise<number> {
  const isJson = values.has('json')
  const follows = values.has('follow')
  const lines = isJson ? asWritten() : asCalls(io)
  const left = new AbortController()
  const ignore = io.onSignal(() => left.abort())
  const read = (begin: number | undefined, isFollowed: boolean) =>
    readLog(caller, agent_id, { log: 'calls', from: begin, follows: isFollowed, signal: left.signal })
  try {
    const shown = new Newest(last, io.out)
    let offset = from
    for await (const line of read(from, false)) {
      offset = line.nextOffset
      for (const text of lines.take(line)) shown.add(text)
    }
    if (!follows) for (const text of lines.rest()) shown.add(text)
    shown.flush()
    if (offset === from && !follows && !isJson)
      io.err(from === undefined ? 'it has called nothing yet\n' : 'it has called nothing since\n')
    if (follows) for await (const line of read(offset, true)) for (const text of lines.take(line)) io.out(text)
    return left.signal.aborted ? LEFT : 0
  } finally {
    ignore()
  }
}

/** What is shown of each line, and at the end of those that could not be shown yet. */
interface Shown {
  take(line: LoggedLine): readonly string[]
  rest(): readonly string[]
}

const asWritten = (): Shown => ({
  take: ({ text, nextOffset }) => [`{"next_offset":${nextOffset},"line":${text}}\n`],
  rest: () => [],
})

function asCalls(io: Invocation['io']): Shown {
  const fold = new CallFold()
  const lineOf = (call: LoggedCall): string => `${String(call.nextOffset).padStart(OFFSET_CHARS)} ${callLineText(call, io)}\n`
  return { take: (line) => fold.take(line).map(lineOf), rest: () => fold.open().map(lineOf) }
}

/** Of what is added, the last ones are told; where there is no bound, each at once. */
class Newest {
  readonly #most: number
  readonly #tell: (text: string) => void
  readonly #kept: string[] = []

  constructor(most: number, tell: (text: string) => void) {
    this.#most = most
    this.#tell = tell
  }

  add(text: string): void {
    if (this.#most === Infinity) return this.#tell(text)
    this.#kept.push(text)
    // Not each time: to take the first of many costs as much as to move them all.
    if (this.#kept.length >= 2 * this.#most) this.#kept.splice(0, this.#kept.length - this.#most)
  }

  flush(): void {
    for (const text of this.#kept.slice(-this.#most)) this.#tell(text)
  }
}
