import { type GatewayCaller } from '@parley/access'
import { TOOLS, ToolError, WORKER_LIMITS, WorkerName } from '@parley/protocol'
import { Conflict, type WorkerKind, type WorkerRecord } from '@parley/store'
import { workerViews } from './worker-view.ts'
import { type WorkerWorld, serveTool } from './worker-world.ts'

/** Comes every few seconds from each of them: what it changes stands in the list. */
export const workerHeartbeat = serveTool(
  TOOLS['worker.heartbeat'],
  async (args, { caller, call, world }) => {
    const kind = kindOf(caller)
    const name = args.name ?? nameByToken(caller)
    if (call?.link === undefined)
      throw new ToolError('no_session', 'a heartbeat goes on a connection on which the worker can be told something', {
        hint: 'connect by WebSocket, or open a session',
      })
    const spoken = world.workers.nameOn(call.link)
    if (spoken !== undefined && spoken !== name)
      throw new ToolError('conflict', `name: this connection speaks for ${spoken}`, { field: 'name', hint: 'open another one' })
    const { instance, slots, labels, facts, load } = args
    // Whoever waits for it asks for a tunnel once it is linked, and it must hear by then whether it drains: nothing is waited for in between.
    const gateways = await world.gateways.list()
    const record = await seenAs(world, { kind, name, tokenId: caller.tokenId, instance, slots, labels, facts, load })
    world.workers.took(record, call.link)
    return {
      name,
      drain: record.drain,
      gateway: world.gateways.id,
      gateways,
      heartbeat_ms: WORKER_LIMITS.heartbeatMs,
    }
  },
  { audit: 'failures' },
)

export const executorList = serveTool(TOOLS['executor.list'], (args, { world }) => workerViews(world, 'executor', args))

export const executorDrain = serveTool(TOOLS['executor.drain'], async ({ name, drain }, context) => {
  context.target = name
  const executor = await context.world.store.workers.setDrain('executor', name, drain)
  if (executor === undefined)
    throw new ToolError('not_found', `there is no executor ${name}`, { field: 'name', hint: 'executor.list has them' })
  return { name: executor.name, drain: executor.drain }
})

function kindOf({ role }: GatewayCaller): WorkerKind {
  if (role === 'host' || role === 'executor') return role
  throw new ToolError('forbidden', 'only hosts and executors have a heartbeat')
}

function nameByToken({ name, tokenId }: GatewayCaller): string {
  const named = WorkerName.safeParse(name)
  if (tokenId !== null && named.success) return named.data
  const why = tokenId === null ? 'this token has no name of its own' : 'the name of this token does not do for a worker'
  throw new ToolError('invalid_argument', `name: ${why}`, { field: 'name', hint: 'give one with --name' })
}

async function seenAs(
  { store }: WorkerWorld,
  beat: Parameters<WorkerWorld['store']['workers']['seen']>[0],
): Promise<WorkerRecord> {
  try {
    return await store.workers.seen(beat)
  } catch (error) {
    if (!(error instanceof Conflict)) throw error
    throw new ToolError('conflict', `name: ${error.message}`, {
      field: 'name',
      hint: 'end the other one, or give this one another name (--name)',
      cause: error,
    })
  }
}
