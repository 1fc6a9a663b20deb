import { AGENT_LIMITS, type AgentId, type BackgroundCall, type CallId, TOOLS, ToolError, iso } from '@parley/protocol'
import { type BackgroundCallRecord, Conflict, NotFound } from '@parley/store'
import { withinShare } from '../../blob/inputs-share.ts'
import { type AgentWorld, serveTool } from '../agent-world.ts'
import { asHost } from '../held-agent.ts'

const QUIET = { audit: 'failures' } as const

export const hostCallBegin = serveTool(
  TOOLS['host.call_begin'],
  ({ call_id: id, tool, arguments_json: argumentsJson, ...claim }, context) =>
    asHost(claim, context, async (fence) => {
      const { backgroundCalls } = context.world.store
      const bounds = { maxRunning: AGENT_LIMITS.backgroundRunning, maxKept: AGENT_LIMITS.backgroundKept }
      const beginning = () => backgroundCalls.begin(fence, { id, tool, argumentsJson }, bounds)
      return { call: callView(await withinShare({}, () => conflictOr(beginning()))) }
    }),
  QUIET,
)

export const hostCallEnd = serveTool(
  TOOLS['host.call_end'],
  ({ call_id: id, end, ...claim }, context) =>
    asHost(claim, context, async (fence) => {
      const bounds = { maxBytes: AGENT_LIMITS.backgroundResultsBytes }
      try {
        return { call: callView(await conflictOr(context.world.store.backgroundCalls.end(fence, id, end, bounds))) }
      } catch (error) {
        throw error instanceof NotFound ? noSuchCall(id, error) : error
      }
    }),
  { ...QUIET, anyText: ['end'] },
)

export const hostCallGet = serveTool(
  TOOLS['host.call_get'],
  ({ call_id: id, ...claim }, context) =>
    asHost(claim, context, async (_fence, agent) => {
      const found = await context.world.store.backgroundCalls.byId(agent.id, id)
      if (found === undefined) throw noSuchCall(id)
      return { call: callView(found), result: found.result }
    }),
  QUIET,
)

export const hostCalls = serveTool(
  TOOLS['host.calls'],
  (claim, context) =>
    asHost(claim, context, async (_fence, { id }) => {
      const calls = await context.world.store.backgroundCalls.list(
        id,
        AGENT_LIMITS.backgroundKept + AGENT_LIMITS.backgroundRunning,
      )
      return { items: calls.map(callView) }
    }),
  QUIET,
)

/** A background call as its resource shows it: with its result, which is JSON unless its end was cut off. */
export async function backgroundView(
  { backgroundCalls }: Pick<AgentWorld['store'], 'backgroundCalls'>,
  agentId: AgentId,
  id: CallId,
): Promise<BackgroundCall & { readonly result: string | null }> {
  const found = await backgroundCalls.byId(agentId, id)
  if (found === undefined) throw noSuchCall(id)
  return { ...callView(found), result: found.result }
}

const noSuchCall = (id: CallId, cause?: unknown): ToolError =>
  new ToolError('not_found', `there is no background call ${id}`, { field: 'call_id', cause })

async function conflictOr<Kept>(kept: Promise<Kept>): Promise<Kept> {
  try {
    return await kept
  } catch (error) {
    throw error instanceof Conflict ? new ToolError('conflict', error.message, { cause: error }) : error
  }
}

const callView = ({
  id,
  agentId,
  tool,
  state,
  isError,
  message,
  resultBytes,
  isCut,
  startedAt,
  endedAt,
}: BackgroundCallRecord) => ({
  call_id: id,
  uri: `resource://agents/${agentId}/calls/${id}`,
  tool,
  state,
  is_error: isError,
  message,
  result_bytes: resultBytes,
  is_cut: isCut,
  started_at: iso(startedAt),
  ended_at: endedAt === null ? null : iso(endedAt),
})
