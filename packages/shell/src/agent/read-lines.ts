import type { SteadyClient } from '@parley/client'
import { AGENT_LIMITS, type AgentId, parseJson, TranscriptLine } from '@parley/protocol'

/** A line of a transcript, and where it ends. */
export interface ReadLine {
  /** As it is written. */
  readonly text: string
  /** `undefined`: of a kind that this version does not know. */
  readonly line: TranscriptLine | undefined
  readonly nextOffset: number
}

export interface ReadLinesOptions {
  readonly from: number
  /** True: waits for more when all was read, until the signal fires. */
  readonly follows: boolean
  readonly signal: AbortSignal
}

/** Lines of an agent's transcript from an offset on. Ends when the signal fires. */
export async function* readLines(
  caller: SteadyClient,
  agent_id: AgentId,
  { from, follows, signal }: ReadLinesOptions,
): AsyncGenerator<ReadLine, void, void> {
  for (let offset = from; ;) {
    const wait_ms = follows ? AGENT_LIMITS.logWaitMs : 0
    const page = await caller
      .call('agent.read_log', { agent_id, log: 'transcript', offset, wait_ms }, { signal })
      .catch((error: unknown) => {
        if (signal.aborted) return undefined
        throw error
      })
    if (page === undefined) return
    for (const { line: text, next_offset: nextOffset } of page.lines)
      yield { text, line: TranscriptLine.safeParse(parseJson(text)).data, nextOffset }
    const isAll = page.next_offset >= page.end
    offset = page.next_offset
    if ((isAll && !follows) || signal.aborted) return
  }
}

/** Where its transcript ends now. */
export async function transcriptEnd(caller: SteadyClient, agent_id: AgentId): Promise<number> {
  return (await caller.call('agent.read_log', { agent_id, log: 'transcript', max_bytes: 1 })).end
}
