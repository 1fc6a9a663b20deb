import { AGENT_LIMITS, type Mount, TOOLS, ToolError, iso, isJsonObject, parseJson } from '@parley/protocol'
import type { AgentRecord, MountRecord, Store } from '@parley/store'
import { withinShare } from '../blob/inputs-share.ts'
import { serveTool } from './agent-world.ts'
import { findAgent } from './find-agent.ts'
import { mountRefusalAt } from './may-mount.ts'
import { keptSignIn, openedMount, sealedMount } from './mount-secrets.ts'

export const mountAttach = serveTool(TOOLS['mount.attach'], async ({ agent_id: id, name, server, options }, context) => {
  context.target = id
  const { store, mountSealer } = context.world
  const agent = await findAgent(store, id, context.caller)
  // What its owner was granted counts, whoever attaches it: it runs for them.
  const refused = await mountRefusalAt(store, server, await store.grants.of(agent.ownerId))
  if (refused !== undefined) throw new ToolError('forbidden', `${refused.field}: ${refused.reason}`, { field: refused.field })
  const before = (await store.agents.mounts(id)).find((mount) => mount.name === name)
  const signIn = keptSignIn(mountSealer, id, before, server)
  const mount = await withinShare({}, () =>
    store.agents.attach(id, sealedMount(mountSealer, id, { name, server, options, signIn }), AGENT_LIMITS.mounts),
  )
  return mountView(mount, agent)
})

/** Attached anew with what the sign-in gave, so that the host that holds the agent connects with it. */
export const mountSignIn = serveTool(TOOLS['mount.sign_in'], async ({ agent_id: id, name, sign_in: signIn }, context) => {
  context.target = id
  const { store, mountSealer } = context.world
  const agent = await findAgent(store, id, context.caller)
  const before = (await store.agents.mounts(id)).find((mount) => mount.name === name)
  if (before === undefined)
    throw new ToolError('not_found', `nothing is mounted as ${name}`, { field: 'name', hint: 'mount.list has what is' })
  const { server } = openedMount(mountSealer, id, before)
  if (server.kind !== 'http')
    throw new ToolError('invalid_argument', `name: ${name} is a program, and nobody signs in at one`, { field: 'name' })
  if (new URL(signIn.resource).origin !== new URL(server.url).origin)
    throw new ToolError('invalid_argument', `sign_in.resource: these tokens are for another server than that of ${name}`, {
      field: 'sign_in.resource',
    })
  const { options } = before
  const mount = await withinShare({}, () =>
    store.agents.attach(id, sealedMount(mountSealer, id, { name, server, options, signIn }), AGENT_LIMITS.mounts),
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
  const parsed = parseJson(shown)
  const { sign_in: signIn, ...server } = isJsonObject(parsed) ? parsed : {}
  const kind = server['kind'] === 'http' ? 'http' : 'stdio'
  return {
    agent_id: agentId,
    name,
    server: { ...server, kind },
    options,
    signed_in: signIn !== undefined,
    version,
    attached_at: iso(attachedAt),
    state: agent.reported.find((state) => state.name === name) ?? null,
  }
}
