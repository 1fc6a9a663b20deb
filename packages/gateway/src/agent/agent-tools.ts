import { cursorOf, type GatewayCaller, hashText, mintToken, nameOf, pageOf, readCursor } from '@parley/access'
import {
  AGENT_LIMITS,
  AgentBudgets,
  AgentId,
  type AgentSettings,
  type Grant,
  type Preset,
  TOOLS,
  type ToolArguments,
  ToolError,
  type UserId,
  WakeRules,
  iso,
  makeId,
} from '@parley/protocol'
import { failedExamples, failedText, policyIn } from '@parley/rulebook'
import { type AgentRecord, drainedTopic, type NewAgent, type Store } from '@parley/store'
import { withinShare } from '../blob/inputs-share.ts'
import { wokenOrLate } from '../judge/polls.ts'
import { type AgentWorld, serveTool } from './agent-world.ts'
import { agentView } from './agent-view.ts'
import { checkRename, findAgent, isTheirs, noSuchAgent } from './find-agent.ts'
import { folderRefusal, mountRefusalAt } from './may-mount.ts'
import { sealedMount } from './mount-secrets.ts'

export const agentCreate = serveTool(TOOLS['agent.create'], async (args, context) => {
  const { caller, world } = context
  const { store, random, mountSealer } = world
  const ownerId = caller.userId
  if (ownerId === null) throw new ToolError('conflict', 'an agent belongs to an account, and there is none', { hint: 'user.add' })
  const preset = await presetOf(world, args.preset)
  const id = makeId(AgentId, 'agt', random)
  const grant = await store.grants.of(ownerId)
  for (const { name, server } of preset.mounts) {
    const refused = await mountRefusalAt(store, server, grant)
    if (refused !== undefined)
      throw new ToolError('forbidden', `preset: its mount ${name} is not for you: ${refused.reason}`, { field: 'preset' })
  }
  const settings = newSettings(args, preset)
  checkFolder(settings.folder, grant)
  const policy = await presetPolicy(preset, args.preset)
  const kind = args.kind ?? preset.kind ?? (settings.model === null ? 'external' : 'local')
  const warnings = await modelWarnings(world, kind, settings.model)
  const agent = await withinShare({}, () =>
    store.agents.add({
      id,
      ownerId,
      ...(args.name === undefined ? {} : { name: args.name }),
      base: args.preset,
      kind,
      preset: args.preset,
      settings,
      mounts: preset.mounts.map((mount) => sealedMount(mountSealer, id, { ...mount, signIn: null })),
      ...(policy === undefined ? {} : { policy: { ...policy, by: nameOf(caller) } }),
      maxAgents: AGENT_LIMITS.perPerson,
    }),
  )
  context.target = agent.id
  return { ...(await agentView(store, agent)), warnings }
})

/** What is given wins over the preset. */
function newSettings(args: ToolArguments<'agent.create'>, preset: Preset): AgentSettings {
  return {
    instructions: args.instructions ?? preset.instructions ?? '',
    model: args.model ?? preset.model ?? null,
    engine: args.engine ?? preset.engine ?? null,
    budgets: args.budgets ?? preset.budgets ?? AgentBudgets.parse({}),
    folder: args.folder ?? preset.folder ?? null,
    wake: args.wake ?? preset.wake ?? WakeRules.parse({}),
  }
}

/** A model may be set up after its agent, so one that nobody knows is no mistake yet: whoever names it hears of it before the first turn fails. */
async function modelWarnings(
  { directory }: Pick<AgentWorld, 'directory'>,
  kind: AgentRecord['kind'],
  model: string | null,
): Promise<string[]> {
  if (kind !== 'local' || model === null) return []
  try {
    await directory.resolve(model, null)
    return []
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    const said = error.message.replace(/^\w+: /, '')
    return [error.hint === undefined ? said : `${said}; ${error.hint}`]
  }
}

function checkFolder(folder: string | null, grant: Grant): void {
  const refused = folderRefusal(folder, grant)
  if (refused !== undefined) throw new ToolError('forbidden', `folder: ${refused.reason}`, { field: 'folder' })
}

async function presetOf({ presets }: Pick<AgentWorld, 'presets'>, name: string): Promise<Preset> {
  const all = await presets()
  const preset = all.get(name)
  if (preset instanceof Error)
    throw new ToolError('invalid_argument', `preset: ${preset.message}`, { field: 'preset', hint: 'an admin corrects the file' })
  if (preset !== undefined) return preset
  throw new ToolError('not_found', `there is no preset ${name}`, {
    field: 'preset',
    hint: `there are: ${[...all.keys()].toSorted().join(', ')}`,
  })
}

/** Read when an agent is made, and refused as `policy.activate` would: an agent whose policy cannot be read could call nothing. */
async function presetPolicy(
  { policy: text }: Preset,
  name: string,
): Promise<Omit<NonNullable<NewAgent['policy']>, 'by'> | undefined> {
  if (text === undefined) return undefined
  const wrong = (why: string, cause?: unknown): ToolError =>
    new ToolError('invalid_argument', `preset: the policy of presets/${name}.toml: ${why}`, {
      field: 'preset',
      hint: 'an admin corrects the file',
      cause,
    })
  const failed = await policyIn(text)
    .then((document) => failedExamples(document))
    .catch((error: unknown) => {
      throw error instanceof ToolError ? wrong(error.message.replace(/^text: /, ''), error) : error
    })
  if (failed.length > 0) throw wrong(failedText(failed))
  return { text, note: `from the preset ${name}` }
}

/** A page of somebody's agents, newest first. */
export async function agentPage(
  store: Pick<Store, 'agents' | 'approvals' | 'news' | 'prompts'>,
  caller: Pick<GatewayCaller, 'admin' | 'userId'>,
  page: { readonly ownerId?: UserId; readonly beforeCreatedAt?: number; readonly beforeId?: AgentId; readonly limit: number },
) {
  const { ownerId: wanted, ...rest } = page
  const ownerId = caller.admin ? wanted : caller.userId
  if (ownerId === null || (!caller.admin && wanted !== undefined && wanted !== caller.userId))
    return { items: [], next_cursor: null }
  const found = await store.agents.list({ ...rest, ...(ownerId === undefined ? {} : { ownerId }), limit: page.limit + 1 })
  const { items, next } = pageOf(found, page.limit, cursorOf)
  return { items: await Promise.all(items.map((agent) => agentView(store, agent))), next_cursor: next }
}

export const agentList = serveTool(TOOLS['agent.list'], ({ owner_user_id: ownerId, cursor, limit }, { caller, world }) =>
  agentPage(world.store, caller, {
    ...(ownerId === undefined ? {} : { ownerId }),
    ...(cursor === undefined ? {} : readCursor(cursor, AgentId, 'agent.list')),
    limit,
  }),
)

export const agentGet = serveTool(TOOLS['agent.get'], async ({ agent_id: id }, { caller, world: { store } }) =>
  agentView(store, await findAgent(store, id, caller)),
)

export const agentUpdate = serveTool(TOOLS['agent.update'], async ({ agent_id: id, name, ...given }, context) => {
  context.target = id
  const { store } = context.world
  const { ownerId, kind } = await findAgent(store, id, context.caller)
  if (name !== undefined) checkRename(context.caller)
  if (given.folder !== undefined) checkFolder(given.folder, await store.grants.of(ownerId))
  const settings: Partial<AgentSettings> = {
    ...(given.instructions === undefined ? {} : { instructions: given.instructions }),
    ...(given.model === undefined ? {} : { model: given.model }),
    ...(given.engine === undefined ? {} : { engine: given.engine }),
    ...(given.budgets === undefined ? {} : { budgets: given.budgets }),
    ...(given.folder === undefined ? {} : { folder: given.folder }),
    ...(given.wake === undefined ? {} : { wake: given.wake }),
  }
  const warnings = await modelWarnings(context.world, kind, given.model ?? null)
  const agent = await store.agents.update(id, { ...(name === undefined ? {} : { name }), settings })
  return { ...(await agentView(store, agent)), warnings }
})

/**
 * Its tokens end with the first step, so that nothing of it goes on while the rest is removed. A host that holds it ends what runs for it and
 * removes its folder; that is waited for, but not for ever: one that is away does it when it is back. A second call finishes what a first began.
 */
export const agentDelete = serveTool(TOOLS['agent.delete'], async ({ agent_id: id, forget_unknown: forget }, context) => {
  context.target = id
  const { store, hostControls } = context.world
  const agent = await store.agents.byId(id)
  if (agent === undefined || !isTheirs(agent, context.caller)) throw noSuchAgent(id)
  if (!forget && agent.status === 'active') await checkNothingUnknown(store, agent)
  const { kind } = await store.agents.held(id)
  const drained = new AbortController()
  const off = store.topics.subscribe(drainedTopic(id), () => drained.abort())
  try {
    await store.agents.markDeleting(id)
    if (kind === 'awake') await wokenOrLate(AbortSignal.any([drained.signal, hostControls.closing]), AGENT_LIMITS.drainMs)
  } finally {
    off()
  }
  await store.agents.remove(id)
  return { agent_id: id, deleted: true as const }
})

const UNSURE_SHOWN = 10

/** What somebody approved may have been done. The record that says so goes with the agent, so a person says first that this is meant. */
async function checkNothingUnknown({ approvals }: Pick<Store, 'approvals'>, { id: agentId, name }: AgentRecord): Promise<void> {
  const unsure = await approvals.list({ agentId, statuses: ['dispatched', 'unknown'], limit: UNSURE_SHOWN })
  if (unsure.length === 0) return
  const named = unsure.map(({ id, status }) => `${id} (${status === 'unknown' ? 'unknown' : 'under way'})`).join(', ')
  throw new ToolError('conflict', `agent ${name} has calls that were approved and may have been made: ${named}`, {
    field: 'forget_unknown',
    hint: 'approval.resolve says what became of one; with forget_unknown the agent and what is known of them go',
  })
}

export const agentToken = serveTool(TOOLS['agent.token'], async ({ agent_id: id, ttl_seconds: ttl, rotate }, context) => {
  context.target = id
  const { store, now, random } = context.world
  const agent = await findAgent(store, id, context.caller)
  const before = rotate ? await store.tokens.ofAgent(id) : []
  const text = mintToken('agent', random)
  const expiresAt = now() + ttl * 1_000
  const token = await store.tokens.add({ hash: hashText(text), role: 'agent', name: agent.name, agentId: id, expiresAt })
  // The new one first: a program that is told both in this order is never without.
  for (const { id: old } of before) await store.tokens.revoke(old)
  return { token: text, id: token.id, agent_id: id, expires_at: iso(expiresAt), revoked: before.length }
})
