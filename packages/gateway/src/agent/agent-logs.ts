import { type AgentId, type AgentLogName, TOOLS, ToolError } from '@parley/protocol'
import { LogTrimmed, type Logs, callsLog, linesOf, transcriptLog } from '@parley/store'
import { waitSignal } from '../job/tools.ts'
import { serveTool } from './agent-world.ts'
import { findAgent } from './find-agent.ts'

const NEWLINE = 10

const agentLog = (id: AgentId, log: AgentLogName): string => (log === 'calls' ? callsLog(id) : transcriptLog(id))

export const agentReadLog = serveTool(TOOLS['agent.read_log'], async (args, context) => {
  const { agent_id: id, log, max_bytes: maxBytes, wait_ms: waitMs } = args
  const { store } = context.world
  await findAgent(store, id, context.caller)
  const name = agentLog(id, log)
  try {
    const start = await store.logs.start(name)
    const offset = args.offset ?? start.offset
    await checkLineEnd(store.logs, name, offset, start)
    const { entries, next } = await store.logs.read(name, { from: { offset }, maxBytes, waitMs, signal: waitSignal(context) })
    return {
      agent_id: id,
      log,
      offset,
      lines: linesOf(entries),
      next_offset: next.offset,
      start: start.offset,
      end: (await store.logs.end(name)).offset,
    }
  } catch (error) {
    if (!(error instanceof LogTrimmed)) throw error
    throw new ToolError(
      'not_found',
      `offset: what stood there is not kept any more, the log begins at ${error.first.offset} now`,
      {
        field: 'offset',
        hint: `leave it out, or go on from ${error.first.offset}`,
        cause: error,
      },
    )
  }
})

/** Whether somebody stands between two lines: what begins in the middle of one is no line. Throws `LogTrimmed` for a place that is gone. */
async function checkLineEnd(logs: Logs, name: string, offset: number, start: LogTrimmed['first']): Promise<void> {
  if (offset === start.offset) return
  if (offset < start.offset) throw new LogTrimmed(start)
  const { entries } = await logs.read(name, { from: { offset: offset - 1 }, maxBytes: 1 })
  const [byte] = entries[0]?.bytes ?? []
  if (byte === NEWLINE) return
  const { offset: end } = await logs.end(name)
  const where = offset > end ? `it ends at ${end}` : 'no line ends there'
  throw new ToolError('invalid_argument', `offset: ${where}`, { field: 'offset', hint: 'hand back a next_offset' })
}
