import { AGENT_LIMITS, type Mount, TOOLS, ToolError, iso, isJsonObject, parseJson } from '@parley/protocol'
import type { AgentRecord, MountRecord, Store } from '@parley/store'
import { withinShare } from '../blob/inputs-share.ts'
import { serveTool } from './agent-world.ts'
import { findAgent } from './find-agent.ts'
import { mountRefusalAt } from './may-mount.ts'
import { sealedMount } from './mount-secrets.ts'

export const mountAttach = serveTool(TOOLS['mount.attach'], async ({ agent_id: id, name, server, options }, context) => {
  context.target = id
  const { store, mountSealer } = context.world
  const agent = await findAgent(store, id, context.caller)
  // What its owner was granted counts, whoever attaches it: it runs for them.
  const refused = await mountRefusalAt(store, server, await store.grants.of(agent.ownerId))
  if (refused !== undefined) throw new ToolError('forbidden', `${refused.field}: ${refused.reason}`, { field: refused.field })
  const mount = await withinShare({}, () =>
    store.agents.attach(id, sealedMount(mountSealer, id, { name, server, options }), AGENT_LIMITS.mounts),
  )
  return mountView(mount, agent)
})

export const mountDetach = serveTool(TOOLS['mount.detach'], async ({ agent_id: id, name }, context) => {
  context.target = id
  const { store } = context.world
  await findAgent(store, id, context.caller)
  return { agent_id: id, name, detached: await store.agents.detach(id, name) }
})

export const mountList = serveTool(TOOLS['mount.list'], async ({ agent_id: id }, { caller, world: { store } }) => ({
  items: await mountViews(store, await findAgent(store, id, caller)),
}))

export async function mountViews(store: Pick<Store, 'agents'>, agent: AgentRecord): Promise<Mount[]> {
  return (await store.agents.mounts(agent.id)).map((mount) => mountView(mount, agent))
}

function mountView({ agentId, name, shown, options, version, attachedAt }: MountRecord, agent: AgentRecord): Mount {
  const server = parseJson(shown)
  const kind = isJsonObject(server) && server['kind'] === 'http' ? 'http' : 'stdio'
  return {
    agent_id: agentId,
    name,
    server: { ...(isJsonObject(server) ? server : {}), kind },
    options,
    version,
    attached_at: iso(attachedAt),
    state: agent.reported.find((state) => state.name === name) ?? null,
  }
}
