import type { SteadyClient } from '@parley/client'
import { AGENT_LIMITS, type AgentId, type Prompt } from '@parley/protocol'
import { readLines, type ReadLine } from './read-lines.ts'

export interface FollowPromptOptions {
  /** Where the transcript ended before it was told. */
  readonly from: number
  readonly waitMs: number
  /** Hears the lines of its turn, in order. */
  readonly heard: (line: ReadLine) => void
  readonly signal: AbortSignal
}

/** Shows the turn of a prompt until it ends, or for so long. Answers the prompt as it is then. */
export async function followPrompt(
  caller: SteadyClient,
  { agent_id, prompt_id }: { readonly agent_id: AgentId; readonly prompt_id: Prompt['prompt_id'] },
  { from, waitMs, heard, signal }: FollowPromptOptions,
): Promise<Prompt> {
  const over = new AbortController()
  const turn = new TurnOf(prompt_id, heard)
  const reading = readOn(
    readLines(caller, agent_id, { from, follows: true, signal: AbortSignal.any([over.signal, signal]) }),
    turn,
  )
  try {
    const wait_ms = Math.min(waitMs, AGENT_LIMITS.runWaitMs)
    const { prompt } = await caller.call('agent.wait', { agent_id, prompt_id, wait_ms }, { signal })
    over.abort()
    await reading
    // What was written since the last look.
    await readOn(readLines(caller, agent_id, { from: Math.max(from, turn.offset), follows: false, signal }), turn)
    return prompt
  } finally {
    over.abort()
    await reading.catch(() => undefined)
  }
}

async function readOn(lines: AsyncIterable<ReadLine>, turn: TurnOf): Promise<void> {
  for await (const line of lines) turn.take(line)
}

/** Of all lines, those of one prompt's turn. */
class TurnOf {
  readonly #promptId: string
  readonly #heard: (line: ReadLine) => void
  #isIn = false
  offset = 0

  constructor(promptId: string, heard: (line: ReadLine) => void) {
    this.#promptId = promptId
    this.#heard = heard
  }

  take(read: ReadLine): void {
    this.offset = read.nextOffset
    const { line } = read
    if (line?.type === 'turn_started') this.#isIn = line.prompt_id === this.#promptId
    const isEnd = line?.type === 'turn_ended' && line.prompt_id === this.#promptId
    if (this.#isIn || isEnd) this.#heard(read)
    if (isEnd) this.#isIn = false
  }
}
