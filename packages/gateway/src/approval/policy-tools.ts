import { nameOf } from '@parley/access'
import {
  type AgentId,
  type Allowance,
  POLICY_LIMITS,
  type PolicyDocument,
  type PolicySubject,
  TOOLS,
  type ToolArguments,
  ToolError,
} from '@parley/protocol'
import { type PolicyAnswer, decide, exampleCall } from '@parley/policy'
import type { Activated, PolicyRecord, Store } from '@parley/store'
import {
  activePolicies,
  failedExamples,
  failedText,
  layersOf,
  layersWith,
  policyEntry,
  policyIn,
  reviewPolicy,
} from '@parley/rulebook'
import { findAgent } from '../agent/find-agent.ts'
import { type AgentWorld, serveTool } from '../agent/agent-world.ts'
import { policySubject } from './policy-subject.ts'
import { triedCallWarnings } from './tried-call-warnings.ts'

export const policyGet = serveTool(TOOLS['policy.get'], async ({ version, ...whose }, { caller, world: { store } }) => {
  const subject = await policySubject(store, whose, caller, 'read')
  const [policy] = version === undefined ? await store.policies.active([subject]) : [await versionOf({ store }, subject, version)]
  return {
    policy: policy === undefined ? null : { ...policyEntry(policy), text: policy.text },
    allowances: subject.layer === 'agent' ? [...(await store.policies.allowances(subject.agentId))] : [],
  }
})

export const policySet = serveTool(TOOLS['policy.set'], async ({ text, note, ...whose }, context) => {
  const { caller, world } = context
  const { store } = world
  const subject = await policySubject(store, whose, caller, 'write')
  context.target = targetOf(subject)
  const document = await policyIn(text)
  const policy = await store.policies.add(subject, { text, note, by: nameOf(caller) })
  const same = (await store.policies.list(subject, { limit: POLICY_LIMITS.versions })).find(
    ({ version, sha256 }) => version !== policy.version && sha256 === policy.sha256,
  )
  return { ...(await reviewed(world, policy, document)), same_as: same?.version ?? null }
})

export const policyReplay = serveTool(TOOLS['policy.replay'], async ({ version, ...whose }, context) => {
  const { caller, world } = context
  const subject = await policySubject(world.store, whose, caller, 'write')
  context.target = targetOf(subject)
  const policy = await versionOf(world, subject, version)
  return reviewed(world, policy, await policyIn(policy.text))
})

/** What is shown is noted with the version: whoever activates it says the digest. */
async function reviewed({ store }: Pick<AgentWorld, 'store'>, policy: PolicyRecord, document: PolicyDocument) {
  const review = await reviewPolicy(store, policy, document)
  const { digest, base_version: base } = review
  await store.policies.reviewed(policy.subject, policy.version, { digest, base })
  return { ...policyEntry(policy), review }
}

export const policyActivate = serveTool(TOOLS['policy.activate'], async ({ version, digest, ...whose }, context) => {
  const { caller, world } = context
  const { store } = world
  const subject = await policySubject(store, whose, caller, 'write')
  context.target = targetOf(subject)
  const policy = await versionOf(world, subject, version)
  const failed = await failedExamples(await policyIn(policy.text))
  if (failed.length > 0)
    throw new ToolError('conflict', `version: ${failedText(failed)}`, {
      field: 'version',
      hint: 'mend the rules or the examples, and policy.set it again',
    })
  const activated = await store.policies.activate(subject, version, { digest, by: nameOf(caller) })
  return policyEntry(confirmed(activated, version))
})

function confirmed(activated: Activated | undefined, version: number): PolicyRecord {
  if (activated === undefined) throw noSuchVersion(version)
  if (activated.kind === 'activated') return activated.policy
  if (activated.kind === 'ended')
    throw new ToolError('conflict', `version: it is ${activated.policy.status}`, { field: 'version' })
  throw new ToolError('conflict', 'digest: what was shown is not what is so now', {
    field: 'digest',
    hint: 'policy.replay shows what it would change now, and answers the digest',
  })
}

export const policyRetire = serveTool(TOOLS['policy.retire'], async (whose, context) => {
  const { store } = context.world
  const subject = await policySubject(store, whose, context.caller, 'write')
  context.target = targetOf(subject)
  return { retired: await store.policies.retire(subject) }
})

export const policyHistory = serveTool(
  TOOLS['policy.history'],
  async ({ before_version: beforeVersion, limit, ...whose }, { caller, world: { store } }) => {
    const subject = await policySubject(store, whose, caller, 'read')
    const page = { limit, ...(beforeVersion === undefined ? {} : { beforeVersion }) }
    return { items: (await store.policies.list(subject, page)).map(policyEntry) }
  },
)

export const policyListProposals = serveTool(
  TOOLS['policy.list_proposals'],
  async ({ agent_id: id, limit }, { caller, world: { store } }) => {
    const { id: agentId } = await findAgent(store, id, caller)
    return proposalsOf(store, agentId, limit)
  },
)

/** What was proposed for an agent, newest first. */
export async function proposalsOf({ policies }: Pick<Store, 'policies'>, agentId: AgentId, limit: number) {
  const statuses = ['proposed', 'refused', 'withdrawn'] as const
  return { items: (await policies.list({ layer: 'agent', agentId }, { statuses, limit })).map(policyEntry) }
}

export const policyTest = serveTool(TOOLS['policy.test'], async (args, { caller, world: { store, gate } }) => {
  const agent = await findAgent(store, args.agent_id, caller)
  const active = await activePolicies(store, agent)
  const layers = args.text === undefined ? layersOf(active) : layersWith(active, args.layer, await policyIn(args.text))
  const allowances = await store.policies.allowances(agent.id)
  const tried = triedCall(args, agent.ownerName, agent.name)
  const mounts = await store.agents.mounts(agent.id)
  const mount = mounts.find(({ name }) => name === tried.mount)
  const call = { ...tried, agent: { ...tried.agent, id: agent.id }, mountVersion: mount?.version ?? null }
  const decideFor = (client: string): PolicyAnswer =>
    decide({ ...call, caller: { ...call.caller, name: client }, session: client }, layers, { allowances, uncovered: gate })
  const own = decideFor(call.caller.name)
  // Most allowances are one client's: whoever tries a call cannot know its name, and wants to know of them.
  const allowed = own.decision === 'ask' ? allowedClient(allowances, decideFor) : undefined
  const { trace, decision, rule, layer, allowances: answered } = own
  const reason = allowed === undefined ? own.reason : `${own.reason} (the client ${allowed} is let through by an allowance)`
  return {
    decision,
    reason,
    rule,
    layer,
    allowances: [...answered],
    trace: trace.map(({ passedOver, ...step }) => ({ ...step, passed_over: [...passedOver] })),
    warnings: triedCallWarnings(tried, agent.name, mounts),
  }
})

/** The first client that an allowance lets make a call without asking. */
function allowedClient(allowances: readonly Allowance[], decideFor: (client: string) => PolicyAnswer): string | undefined {
  const clients = new Set(allowances.flatMap(({ session }) => session ?? []))
  return [...clients].find((client) => decideFor(client).decision === 'allow')
}

const triedCall = ({ call }: ToolArguments<'policy.test'>, owner: string, name: string) =>
  exampleCall({ ...call, agent: `${owner}/${name}` })

export const policyDisallow = serveTool(TOOLS['policy.disallow'], async ({ agent_id: id, allowance_id: allowance }, context) => {
  const { store } = context.world
  context.target = allowance
  const { id: agentId } = await findAgent(store, id, context.caller)
  return { disallowed: await store.policies.disallow(agentId, allowance) }
})

async function versionOf({ store }: Pick<AgentWorld, 'store'>, subject: PolicySubject, version: number): Promise<PolicyRecord> {
  const policy = await store.policies.byVersion(subject, version)
  if (policy === undefined) throw noSuchVersion(version)
  return policy
}

const noSuchVersion = (version: number): ToolError =>
  new ToolError('not_found', `there is no version ${version}`, {
    field: 'version',
    hint: 'policy.history has those that are kept',
  })

/** For the audit log. */
const targetOf = (subject: PolicySubject): string => (subject.layer === 'agent' ? subject.agentId : `policy of ${subject.layer}`)
