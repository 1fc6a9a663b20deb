import type { SteadyClient } from '@parley/client'
import { type AgentId, AgentName, type ToolInput } from '@parley/protocol'
import { type Invocation, type OptionSpec, usageError } from '@parley/command-line'
import { show, wholeNumber } from '@parley/command-line/commands'
import { toldByOffset } from './read-lines.ts'

export const FORK_OPTIONS = {
  at: { doc: 'where, by an offset that agent transcript shows (default: its end)', value: 'OFFSET' },
  name: { doc: 'the same as NAME', value: 'NAME' },
} as const satisfies Record<string, OptionSpec>

type ForkWords = Omit<ToolInput<'agent.fork'>, 'agent_id'>

const OFFSET = { min: 0, max: Number.MAX_SAFE_INTEGER }

/** What was typed. The agent is the first word, the name of the new one the second. */
export function forkWords({ values, positionals: [, name] }: Pick<Invocation, 'values' | 'positionals'>): ForkWords {
  const offset = wholeNumber(values, 'at', OFFSET)
  const option = values.text('name')
  if (option !== undefined && name !== undefined) throw usageError('agent fork: NAME is given twice, with --name and without')
  const given = AgentName.optional().safeParse(name ?? option)
  if (!given.success) throw usageError(`${name === undefined ? '--name' : 'NAME'} ${given.error.issues[0]?.message}`)
  return { ...(offset === undefined ? {} : { offset }), ...(given.data === undefined ? {} : { name: given.data }) }
}

export async function forkAgent(
  caller: SteadyClient,
  agent_id: AgentId,
  invocation: Pick<Invocation, 'io' | 'values'>,
  words: ForkWords,
): Promise<number> {
  const agent = await caller.once('agent.fork', { agent_id, ...words }).catch((error: unknown) => {
    throw toldByOffset(error, '--at')
  })
  return show(invocation, agent, `${agent.name} is made: ${agent.agent_id}`)
}
