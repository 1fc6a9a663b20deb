import { messageOf, Role, type ExampleCall } from '@parley/protocol'
import { canonicalJson } from '../call/canonical.ts'
import { ENGINE_MOUNT, type PolicyCall } from '../call/policy-call.ts'
import { namedKindsOf } from './named-kinds.ts'
import type { PolicyProblem } from './problem.ts'

const SEPARATED_AGENT = /^([^/]+)\/([^/]+)$/
const SEPARATED_CALLER = /^([a-z]+):(.+)$/s

/** The call that an example writes down. */
export function exampleCall(example: ExampleCall): PolicyCall {
  const [named] = namedKindsOf(example)
  const [, owner = '', agent = ''] = SEPARATED_AGENT.exec(example.agent) ?? []
  const [, role = '', caller = ''] = SEPARATED_CALLER.exec(example.caller) ?? []
  return {
    agent: { id: '', name: agent, owner },
    caller: { role: Role.catch('agent').parse(role), name: caller },
    session: null,
    kind: named ?? example.kind ?? 'tool',
    mount: example.mount === undefined || example.mount === ENGINE_MOUNT ? null : example.mount,
    mountVersion: null,
    name: (named === undefined ? example.name : example[named]) ?? '',
    arguments: example.args,
    annotations: example.annotations,
    counts: { turn: example.counts.turn ?? 0, hour: example.counts.hour ?? 0, day: example.counts.day ?? 0 },
    now: Date.parse(example.now),
  }
}

/** What an example's call lacks, or has too much of. */
export function exampleFaults(example: ExampleCall): readonly Omit<PolicyProblem, 'rule'>[] {
  const named = namedKindsOf(example)
  const [kind] = named
  const faults: Omit<PolicyProblem, 'rule'>[] = []
  const fault = (field: string, problem: string, hint: string): void =>
    void faults.push({ field: `call.${field}`, problem, hint })
  if (named.length > 1) fault(named.join(', '), 'a call is one of these', 'keep one')
  if (kind !== undefined && example.name !== undefined) fault('name', `${kind} is the name already`, 'take one of them out')
  if (kind !== undefined && example.kind !== undefined && example.kind !== kind)
    fault('kind', `${kind} says another`, 'take it out')
  if (kind === undefined && example.kind === undefined)
    fault('kind', 'what is called is not said', 'write tool = "…" or kind and name')
  if (!SEPARATED_AGENT.test(example.agent)) fault('agent', 'must be owner/name', 'write it as "ada/helper"')
  const role = SEPARATED_CALLER.exec(example.caller)?.[1]
  if (!Role.safeParse(role).success) fault('caller', 'must be role:name', `the role is one of ${Role.options.join(', ')}`)
  try {
    canonicalJson(example.args)
  } catch (error) {
    fault('args', messageOf(error), 'write what JSON has: texts, numbers, true, false, lists and tables')
  }
  return faults
}
