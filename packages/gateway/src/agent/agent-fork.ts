import { AGENT_LIMITS, AgentId, type AgentSettings, TOOLS, ToolError, iso, makeId } from '@parley/protocol'
import { type AgentRecord, InvalidArgument, type MountRecord, type NewMount, transcriptLog } from '@parley/store'
import type { Sealer } from '@parley/models'
import { withinShare } from '../blob/inputs-share.ts'
import { agentView } from './agent-view.ts'
import { serveTool } from './agent-world.ts'
import { checkFork, findAgent } from './find-agent.ts'
import { openedMount, sealedMount } from './mount-secrets.ts'

/** The new one belongs to the owner of the other, whoever made it: its secrets come along. */
export const agentFork = serveTool(TOOLS['agent.fork'], async ({ agent_id: from, offset, name }, context) => {
  const { store, mountSealer, random, now } = context.world
  const agent = await findAgent(store, from, context.caller)
  checkFork(context.caller)
  if (agent.kind === 'external')
    throw new ToolError('conflict', `agent ${agent.name} is external: what it knows is not here`, {
      hint: 'agent.create makes another with the same preset',
    })
  const end = offset ?? (await store.logs.end(transcriptLog(from))).offset
  const id = makeId(AgentId, 'agt', random)
  const mounts = (await store.agents.mounts(from)).map((mount) => resealed(mountSealer, mount, id))
  try {
    const forked = await withinShare({ whose: 'the owner’s' }, () =>
      store.agents.add({
        ...shared(agent),
        id,
        ...(name === undefined ? {} : { name }),
        mounts,
        knows: { agentId: from, offset: end },
        maxAgents: AGENT_LIMITS.perPerson,
      }),
    )
    context.target = forked.id
    const line = { type: 'forked', at: iso(now()), agent_id: from, offset: end }
    await store.logs.append(transcriptLog(id), [Buffer.from(`${JSON.stringify(line)}\n`)])
    return agentView(store, forked)
  } catch (error) {
    if (!(error instanceof InvalidArgument) || error.field !== 'offset') throw error
    throw new ToolError('invalid_argument', error.message, {
      field: 'offset',
      hint: 'a next_offset of agent.read_log',
      cause: error,
    })
  }
})

/** Its folder stays the other's own: two that write to one would not know what the other does. */
function shared({ ownerId, name, kind, preset, settings }: AgentRecord) {
  const own: AgentSettings = { ...settings, folder: null }
  return { ownerId, base: name, kind, preset, settings: own }
}

/** A mount is sealed for its agent. */
function resealed(sealer: Sealer, mount: MountRecord, id: AgentId): NewMount {
  const { name, options, agentId } = mount
  return sealedMount(sealer, id, { name, options, ...openedMount(sealer, agentId, mount) })
}
