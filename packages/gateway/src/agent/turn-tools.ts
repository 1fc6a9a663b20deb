import { type ToolContext } from '@parley/access'
import { AGENT_LIMITS, type AgentClaim, type Heard, TOOLS, ToolError } from '@parley/protocol'
import { type AppendOptions, Conflict, NotFound, callsLog, linesOf, transcriptLog } from '@parley/store'
import { type AgentWorld, serveTool } from './agent-world.ts'
import { asHost, underClaim } from './held-agent.ts'

const QUIET = { audit: 'failures' } as const
const LINES = { ...QUIET, anyText: ['lines'] }

export const hostNextPrompt = serveTool(
  TOOLS['host.next_prompt'],
  (claim, context) =>
    asHost(claim, context, async (fence) => {
      const { prompts, news } = context.world.store
      const next = await prompts.next(fence)
      if (next === undefined) return { prompt: null }
      const { id, number, text, by, wokenBy, abortedAt } = next.prompt
      const yielded = next.resumed && (await news.hasYielded(claim.agent_id, id))
      const aborting = abortedAt !== null
      return { prompt: { prompt_id: id, number, text, by, woken_by: wokenBy, resumed: next.resumed, aborting, yielded } }
    }),
  QUIET,
)

export const hostEndPrompt = serveTool(
  TOOLS['host.end_prompt'],
  ({ prompt_id: id, outcome, ...claim }, context) =>
    asHost(claim, context, async (fence) => {
      try {
        await context.world.store.prompts.end(fence, id, outcome)
      } catch (error) {
        if (error instanceof Conflict) throw new ToolError('conflict', error.message, { cause: error })
        if (error instanceof NotFound) throw new ToolError('not_found', error.message, { field: 'prompt_id', cause: error })
        throw error
      }
      return { prompt_id: id, ended: true as const }
    }),
  { ...QUIET, anyText: ['outcome'] },
)

/** What was called is in a log of its own, of which each batch is an entry: calls wait for it, and a row for each line takes longer. */
export const hostAppendCalls = serveTool(
  TOOLS['host.append_calls'],
  ({ offset, lines, ...claim }, context) => {
    const { callChain } = context.world
    const options = { rolls: { maxBytes: AGENT_LIMITS.callsBytes }, ...(callChain === null ? {} : { chain: callChain }) }
    return append(claim, context, { log: callsLog(claim.agent_id), offset, entries: [`${lines.join('\n')}\n`], options })
  },
  LINES,
)

/** Each line is an entry: a fork begins at the end of one. */
export const hostAppendTranscript = serveTool(
  TOOLS['host.append_transcript'],
  ({ offset, lines, heard, ...claim }, context) =>
    append(claim, context, {
      log: transcriptLog(claim.agent_id),
      offset,
      entries: lines.map((line) => `${line}\n`),
      ...(heard === undefined ? {} : { heard }),
    }),
  LINES,
)

interface Appending {
  readonly log: string
  readonly offset: number
  readonly entries: readonly string[]
  readonly options?: Pick<AppendOptions, 'chain' | 'rolls'>
  /** What the agent was told by one of these lines of its transcript. */
  readonly heard?: Heard
}

/** Adds to a log of the agent's under the claim. */
function append(claim: AgentClaim, context: ToolContext<AgentWorld>, { log, offset, entries, options, heard }: Appending) {
  return underClaim(claim, context, async (fence) => {
    const bytes = entries.map((entry) => Buffer.from(entry))
    const { logs, news } = context.world.store
    const outcome = await (heard === undefined
      ? logs.append(log, bytes, { ...options, at: { offset }, fence })
      : news.hear(fence, bytes, { offset, heard }))
    if (outcome.kind === 'appended' || outcome.kind === 'repeated') return { ok: true as const, next_offset: outcome.offset }
    if (outcome.kind === 'mismatch')
      return { ok: false as const, code: 'offset_mismatch' as const, current_offset: outcome.offset }
    const which = log === callsLog(claim.agent_id) ? 'log of this agent’s calls' : 'transcript of this agent'
    throw new ToolError('quota_exceeded', `the ${which} is full`, {
      hint: 'agent.fork from an earlier point, or agent.create anew',
    })
  })
}

export const hostReadTranscript = serveTool(
  TOOLS['host.read_transcript'],
  ({ offset, max_bytes: maxBytes, ...claim }, context) =>
    asHost(claim, context, async () => {
      const { logs } = context.world.store
      const name = transcriptLog(claim.agent_id)
      const { entries, next } = await logs.read(name, { from: { offset }, maxBytes })
      return { lines: linesOf(entries).map(({ line }) => line), next_offset: next.offset, end: (await logs.end(name)).offset }
    }),
  QUIET,
)
