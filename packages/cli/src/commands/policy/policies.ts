import type { SteadyClient } from '@parley/client'
import { type AgentId, AllowanceId } from '@parley/protocol'
import type { Invocation } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import {
  activatePolicy,
  digestOf,
  draftOf,
  draftWords,
  namedPolicy,
  type NamedPolicy,
  neededAgent,
  POLICY_WORDS,
  type PolicyCommand,
  policyHistory,
  proposePolicy,
  replayPolicy,
  retirePolicy,
  setPolicy,
  shownVersion,
  showPolicy,
  testPolicy,
  toldByOption,
  trialOf,
  versionOf,
  type PolicyOwner,
} from '@parley/shell'
import { findId } from '../../caller/find-id.ts'
import { withCaller } from '../../caller/with-caller.ts'
import { findAgentId } from '../agent/find-agent.ts'

const ALLOWANCE = { noun: 'allowance', what: 'ALLOWANCE', prefix: 'alw_', list: 'parley policy show --agent AGENT' } as const

export const policyVersions = (invocation: Invocation): Promise<number> => withPolicy(invocation, policyHistory)
export const policyRetire = (invocation: Invocation): Promise<number> => withPolicy(invocation, retirePolicy)

export const policyShow = (invocation: Invocation): Promise<number> => {
  const version = shownVersion(invocation)
  return withPolicy(invocation, (command) => showPolicy(command, version))
}

export const policySet = (invocation: Invocation): Promise<number> => {
  const draft = draftOf(invocation)
  return withPolicy(invocation, (command) => setPolicy(command, draft), draftWords(invocation))
}

export const policyReplay = (invocation: Invocation): Promise<number> => {
  const version = versionOf(invocation)
  return withPolicy(invocation, (command) => replayPolicy(command, version))
}

export const policyActivate = (invocation: Invocation): Promise<number> => {
  const version = versionOf(invocation)
  const digest = digestOf(invocation)
  return withPolicy(invocation, (command) => activatePolicy(command, version, digest))
}

export const policyTest = (invocation: Invocation): Promise<number> => {
  const trial = trialOf(invocation)
  return withNamedAgent(invocation, 'policy test', (caller, id) => testPolicy({ caller, invocation }, id, trial), {
    text: `--file ${invocation.values.text('file') ?? ''}`,
  })
}

export const policyPropose = (invocation: Invocation): Promise<number> => {
  const draft = draftOf(invocation)
  const propose = (caller: SteadyClient, id: AgentId) => proposePolicy({ caller, invocation }, id, draft)
  return withNamedAgent(invocation, 'policy propose', propose, draftWords(invocation))
}

export const policyDisallow = (invocation: Invocation): Promise<number> =>
  withNamedAgent(invocation, 'policy disallow', async (caller, agent_id) => {
    const page = async () => {
      const { allowances } = await caller.call('policy.get', { agent_id })
      return { items: allowances.map(({ id, name }) => ({ id: AllowanceId.parse(id), about: name })), next_cursor: null }
    }
    const whole = (text: string): AllowanceId | undefined => AllowanceId.safeParse(text).data
    const allowance_id = await findId({ ...ALLOWANCE, whole, page }, invocation.positionals[0] ?? '')
    const result = await caller.call('policy.disallow', { agent_id, allowance_id })
    return show(invocation, result, `${allowance_id} ${result.disallowed ? 'has ended' : 'had ended already'}.`)
  })

/** Does something with the policy that a line names. What the gateway refuses is told by what was typed. */
function withPolicy(
  invocation: Invocation,
  use: (command: PolicyCommand) => Promise<number>,
  words: Readonly<Record<string, string>> = {},
): Promise<number> {
  const named = namedPolicy(invocation.values)
  return withCaller(invocation, 'user', (caller) =>
    inWords(async () => use({ caller, invocation, named, whose: await whoseOf(caller, named) }), words),
  )
}

function withNamedAgent(
  invocation: Invocation,
  command: string,
  use: (caller: SteadyClient, agentId: AgentId) => Promise<number>,
  words: Readonly<Record<string, string>> = {},
): Promise<number> {
  const agent = neededAgent(invocation.values, command)
  return withCaller(invocation, 'user', (caller) => inWords(async () => use(caller, await findAgentId(caller, agent)), words))
}

async function whoseOf(caller: SteadyClient, named: NamedPolicy): Promise<PolicyOwner> {
  if (named.kind === 'agent') return { agent_id: await findAgentId(caller, named.agent) }
  if (named.kind === 'installation') return { layer: 'installation' }
  return named.kind === 'user' ? { username: named.username } : {}
}

const inWords = (act: () => Promise<number>, words: Readonly<Record<string, string>> = {}): Promise<number> =>
  act().catch((error: unknown) => {
    throw toldByOption(error, { ...POLICY_WORDS, ...words })
  })
