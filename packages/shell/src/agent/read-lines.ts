import type { SteadyClient } from '@parley/client'
import { CommandError } from '@parley/command-line'
import { AGENT_LIMITS, type AgentId, type AgentLogName, parseJson, ToolError, TranscriptLine } from '@parley/protocol'

/** A line of a log of an agent as it is written, and where it ends. */
export interface LoggedLine {
  readonly text: string
  readonly nextOffset: number
}

/** A line of a transcript. */
export interface ReadLine extends LoggedLine {
  /** `undefined`: of a kind that this version does not know. */
  readonly line: TranscriptLine | undefined
}

interface ReadLinesOptions {
  readonly from: number
  /** True: waits for more when all was read, until the signal fires. */
  readonly follows: boolean
  readonly signal: AbortSignal
}

interface ReadLogOptions extends Omit<ReadLinesOptions, 'from'> {
  readonly log: AgentLogName
  /** Left out: the first line that is kept. */
  readonly from?: number | undefined
}

const WRONG_USAGE = 2

/** Lines of an agent's transcript from an offset on. Ends when the signal fires. */
export async function* readLines(
  caller: SteadyClient,
  agent_id: AgentId,
  options: ReadLinesOptions,
): AsyncGenerator<ReadLine, void, void> {
  for await (const read of readLog(caller, agent_id, { ...options, log: 'transcript' }))
    yield { ...read, line: TranscriptLine.safeParse(parseJson(read.text)).data }
}

/** Lines of one of its logs, in the same way. */
export async function* readLog(
  caller: SteadyClient,
  agent_id: AgentId,
  { log, from, follows, signal }: ReadLogOptions,
): AsyncGenerator<LoggedLine, void, void> {
  for (let offset = from; ;) {
    const wait_ms = follows ? AGENT_LIMITS.logWaitMs : 0
    const place = offset === undefined ? {} : { offset }
    const page = await caller.call('agent.read_log', { agent_id, log, ...place, wait_ms }, { signal }).catch((error: unknown) => {
      if (signal.aborted) return undefined
      throw toldByOffset(error, '--from')
    })
    if (page === undefined) return
    for (const { line: text, next_offset: nextOffset } of page.lines) yield { text, nextOffset }
    const isAll = page.next_offset >= page.end
    offset = page.next_offset
    if ((isAll && !follows) || signal.aborted) return
  }
}

/** Where its transcript ends now. */
export async function transcriptEnd(caller: SteadyClient, agent_id: AgentId): Promise<number> {
  return (await caller.call('agent.read_log', { agent_id, log: 'transcript', max_bytes: 1 })).end
}

/** An offset that was typed is one that was shown: programs hear of the field in which they hand one back. */
export function toldByOffset(error: unknown, option: '--from' | '--at'): unknown {
  if (!(error instanceof ToolError) || error.field !== 'offset') return error
  const why = error.message.replace(/^offset:? /, '')
  return new CommandError(
    error.code,
    `${option}: ${why.startsWith('it ends') ? `the log ends${why.slice('it ends'.length)}` : why}`,
    {
      exitCode: error.code === 'invalid_argument' ? WRONG_USAGE : 1,
      hint: 'give an offset as it is shown before a line, or leave it out',
      cause: error,
    },
  )
}
