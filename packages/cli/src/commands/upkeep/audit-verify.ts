import type { SteadyClient } from '@parley/client'
import type { ToolOutput } from '@parley/protocol'
import { columns, named, prose, secondText } from '@parley/screen'
import type { Invocation } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { withCaller } from '../../caller/with-caller.ts'
import { findAgentId } from '../agent/find-agent.ts'

/** With so many faults the rest says nothing new. */
const FAULTS_MAX = 1_000
const HEADINGS = ['agent', 'offset', 'what', 'id', 'in words']

type Found = Omit<ToolOutput<'audit.verify'>, 'next_cursor'> & {
  /** False: it stopped at so many faults. */
  readonly complete: boolean
}

/** Walks along the chains, a piece at a time, and says what was proved and what is wrong. */
export const auditVerify = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'user', async (caller) => {
    const [given] = invocation.positionals
    const found = await verify(caller, given === undefined ? {} : { agent_id: await findAgentId(caller, given) })
    const rows = found.faults.map(({ agent, offset, kind, agent_id, message }) => [
      named(agent),
      String(offset),
      kind,
      agent_id,
      prose(message),
    ])
    const table = rows.length === 0 ? '' : `${columns([HEADINGS, ...rows], invocation.io.screen(), { mayGo: ['id'] })}\n`
    show(invocation, found, `${table}${wordsOf(found, invocation)}`)
    return found.faults.length === 0 ? 0 : 1
  })

async function verify(
  caller: SteadyClient,
  which: { readonly agent_id?: ToolOutput<'audit.verify'>['faults'][number]['agent_id'] },
) {
  let found: Found = { agents: 0, lines: 0, not_chained: 0, since: null, faults: [], complete: true }
  let from: { readonly cursor?: string } = {}
  for (;;) {
    const { next_cursor: cursor, ...piece } = await caller.call('audit.verify', { ...which, ...from })
    found = sum(found, piece)
    if (cursor === null) return found
    if (found.faults.length >= FAULTS_MAX) return { ...found, complete: false }
    from = { cursor }
  }
}

const sum = (found: Found, piece: Omit<Found, 'complete'>): Found => ({
  agents: found.agents + piece.agents,
  lines: found.lines + piece.lines,
  not_chained: found.not_chained + piece.not_chained,
  since: [found.since, piece.since].filter((since) => since !== null).toSorted()[0] ?? null,
  faults: [...found.faults, ...piece.faults],
  complete: found.complete,
})

/** What was proved, and no more. */
function wordsOf({ agents, lines, not_chained, since, faults, complete }: Found, { io }: Pick<Invocation, 'io'>): string {
  const proved = `${count(lines, 'line')} of ${count(agents, 'agent')} ${lines === 1 ? 'is' : 'are'} as written${
    since === null ? '' : `, the oldest of ${secondText(since, io)}`
  }.`
  return [
    proved,
    ...(not_chained === 0 ? [] : [`Nothing is proved of ${count(not_chained, 'line')} from before there were chains.`]),
    ...(faults.length === 0 ? [] : [`${count(faults.length, 'fault')} found${complete ? '' : '; it stopped there'}.`]),
  ].join(' ')
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
