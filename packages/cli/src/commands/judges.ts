import { type Judge, MachineId, ToolError } from '@parley/protocol'
import type { Invocation } from '../command-line/command.ts'
import { CommandError, usageError } from '../command-line/command-error.ts'
import type { SteadyCaller } from '../job/steady-caller.ts'
import { columns } from './columns.ts'
import { show, withCaller } from './with-caller.ts'

const HEADER = ['name', 'state', 'jobs', 'sandbox', 'version', 'last seen', 'languages']

/** The judges that asked for work in the last day. */
export const judgeList = (invocation: Invocation): Promise<number> =>
  asAdmin(invocation, async (caller) => {
    const result = await caller.call('judge.list', {})
    if (result.items.length === 0 && !invocation.values.has('json'))
      invocation.io.err('no judge asked for work in the last day\n')
    return show(invocation, result, columns([HEADER, ...result.items.map(rowOf)]))
  })

/** Tells a judge to take no more jobs, or to take them again. */
export const judgeDrain = (invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const name = MachineId.safeParse(positionals[0])
  if (!name.success) throw usageError('NAME must have 1 to 128 characters', 'parley judge list shows the names')
  return asAdmin(invocation, async (caller) => {
    const drain = !values.has('undo')
    const result = await caller.call('judge.drain', { machine_id: name.data, drain }).catch((error: unknown) => {
      if (!(error instanceof ToolError) || error.code !== 'not_found') throw error
      const hint = 'parley judge list shows the names'
      throw new CommandError('not_found', `there is no judge ${name.data}`, { hint, cause: error })
    })
    const now = result.drain ? 'finishes what it holds and takes no more jobs' : 'takes jobs'
    return show(invocation, result, columns([[`${result.machine_id} ${now}.`]]))
  })
}

function rowOf({ machine_id, state, jobs, facts, last_seen_at }: Judge): string[] {
  return [
    machine_id,
    state,
    facts === null ? String(jobs.length) : `${jobs.length}/${facts.slots}`,
    facts === null ? '' : `${facts.sandbox.driver} (${facts.sandbox.tier})`,
    facts?.version ?? '',
    last_seen_at,
    facts?.languages.map(({ language }) => language).join(', ') ?? '',
  ]
}

const asAdmin = (invocation: Invocation, use: (caller: SteadyCaller) => Promise<number>): Promise<number> =>
  withCaller(invocation, 'admin', use)
