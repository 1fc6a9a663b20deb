import { type AgentId, Username } from '@parley/protocol'
import { type OptionSpec, usageError, type Values } from '@parley/command-line'

/** For every command that is about a policy: whose. */
export const WHOSE_OPTIONS = {
  agent: { doc: 'the policy of this agent: its id, or the name of one of yours', value: 'AGENT' },
  installation: { doc: 'the policy of the installation, which an admin writes for everybody' },
  user: { doc: 'the policy of this person, for admins; without any of these three it is your own', value: 'NAME' },
} as const satisfies Record<string, OptionSpec>

/** PolicyOwner policy a line names. `agent` is as it was typed: a gateway knows which one it is. */
export type NamedPolicy =
  | { readonly kind: 'own' }
  | { readonly kind: 'installation' }
  | { readonly kind: 'user'; readonly username: string }
  | { readonly kind: 'agent'; readonly agent: string }

/** PolicyOwner policy it is, as the tools want it. */
export interface PolicyOwner {
  readonly layer?: 'installation'
  readonly agent_id?: AgentId
  readonly username?: string
}

export function namedPolicy(values: Values): NamedPolicy {
  const given = Object.keys(WHOSE_OPTIONS).filter((name) => values.has(name))
  if (given.length > 1)
    throw usageError(
      `${given.map((name) => `--${name}`).join(' and ')} exclude each other`,
      'give one of them, or none: your own',
    )
  if (values.has('installation')) return { kind: 'installation' }
  const agent = values.text('agent')
  if (agent !== undefined) return { kind: 'agent', agent }
  const user = values.text('user')
  if (user === undefined) return { kind: 'own' }
  const username = Username.safeParse(user)
  if (!username.success) throw usageError(`--user ${username.error.issues[0]?.message}`)
  return { kind: 'user', username: username.data }
}

/** The agent that a command needs, where no other policy can be meant. */
export function neededAgent(values: Values, command: string): string {
  const agent = values.text('agent')
  if (agent === undefined) throw usageError(`${command} needs --agent`, 'parley agent list shows yours')
  return agent
}

/** What is put behind a command that is about the same policy. */
export function whoseWords(named: NamedPolicy): string {
  if (named.kind === 'own') return ''
  if (named.kind === 'installation') return ' --installation'
  return named.kind === 'agent' ? ` --agent ${named.agent}` : ` --user ${named.username}`
}

/** What a policy is called in a sentence. */
export function policyName(named: NamedPolicy): string {
  if (named.kind === 'own') return 'your policy'
  if (named.kind === 'installation') return 'the policy of the installation'
  return `the policy of ${named.kind === 'agent' ? named.agent : named.username}`
}
