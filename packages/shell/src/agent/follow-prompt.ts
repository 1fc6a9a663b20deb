import type { SteadyClient } from '@parley/client'
import type { AgentId, Prompt } from '@parley/protocol'
import { readLines, type ReadLine } from './read-lines.ts'

/** One call waits no longer than this: a longer one is taken for lost, and a gateway that shuts down answers those that wait. */
const ONE_WAIT_MS = 30_000
/** What is answered sooner than it was asked for comes from a gateway that shuts down; it is not asked again without a pause. */
const PAUSE_MS = 500

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
  // It is looked at when the turn is over; until then it may have failed without anybody who waits for it.
  reading.catch(() => undefined)
  try {
    const prompt = await waitFor(caller, { agent_id, prompt_id }, { waitMs, signal })
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

/** As it is when it has ended, or when the time is up. */
async function waitFor(
  caller: SteadyClient,
  of: { readonly agent_id: AgentId; readonly prompt_id: Prompt['prompt_id'] },
  { waitMs, signal }: Pick<FollowPromptOptions, 'waitMs' | 'signal'>,
): Promise<Prompt> {
  const { clock } = caller
  const until = clock.now() + waitMs
  for (;;) {
    const wait_ms = Math.ceil(Math.max(0, Math.min(until - clock.now(), ONE_WAIT_MS)))
    const { prompt, ended } = await caller.call('agent.wait', { ...of, wait_ms }, { signal })
    if (ended || clock.now() >= until) return prompt
    await clock.sleep(PAUSE_MS, signal)
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
