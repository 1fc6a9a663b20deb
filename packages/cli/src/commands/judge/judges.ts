import { type Judge, MachineId } from '@parley/protocol'
import { agoText, columns } from '@parley/screen'
import { CommandError, type Invocation, suggest, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { withCaller } from '../../caller/with-caller.ts'

const HEADER = ['name', 'machine', 'state', 'jobs', 'sandbox', 'version', 'last seen', 'languages']

/** The judges that are here; with `--all` those of the last day that left, too. */
export const judgeList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('judge.list', { gone: invocation.values.has('all') })
    if (result.items.length === 0 && !invocation.values.has('json')) invocation.io.err('no judge is here\n')
    const rows = result.items.map((judge) => rowOf(judge, invocation))
    return show(invocation, result, columns([HEADER, ...rows], invocation.io.screen(), { mayGo: ['version', 'machine'] }))
  })

/** Tells a judge to take no more jobs, or to take them again. */
export const judgeDrain = (invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const name = MachineId.safeParse(positionals[0])
  if (!name.success) throw usageError('NAME must have 1 to 128 characters', 'parley judge list shows the names')
  return withCaller(invocation, 'admin', async (caller) => {
    const drain = !values.has('undo')
    const judge = chosen((await caller.call('judge.list', { gone: true })).items, name.data)
    const result = await caller.call('judge.drain', { machine_id: judge.machine_id, drain })
    const now = result.drain ? 'finishes what it holds and takes no more jobs' : 'takes jobs'
    return show(invocation, result, columns([[`${judge.name} ${now}.`]]))
  })
}

/** The judge of that name; by its machine, where several are called the same. */
function chosen(judges: readonly Judge[], name: string): Judge {
  const [named, ...more] = judges.filter(({ machine_id }) => machine_id === name)
  const [called, ...others] = judges.filter((judge) => judge.name === name)
  if (named !== undefined && more.length === 0) return named
  if (called === undefined) {
    const meant = suggest(
      name,
      judges.flatMap((judge) => [judge.name, judge.machine_id]),
    )
    const hint = meant === undefined ? 'parley judge list --all shows the names' : `did you mean ${meant}?`
    throw new CommandError('not_found', `there is no judge ${name}`, { hint })
  }
  if (others.length === 0) return called
  const machines = [called, ...others].map(({ machine_id }) => machine_id).join(', ')
  throw new CommandError('conflict', `${others.length + 1} judges are called ${name}`, {
    hint: `name one by its machine: ${machines}`,
  })
}

function rowOf({ name, machine_id, state, jobs, facts, last_seen_at }: Judge, { io }: Pick<Invocation, 'io'>): string[] {
  return [
    name,
    machine_id === name ? '' : machine_id,
    state,
    facts === null ? String(jobs.length) : loadText(jobs.length, facts.slots),
    facts === null ? '' : `${facts.sandbox.driver} (${facts.sandbox.tier})`,
    facts?.version ?? '',
    agoText(last_seen_at, io),
    facts?.languages.map(({ language }) => language).join(', ') ?? '',
  ]
}

/** Guests stand apart: they are beyond the slots. */
function loadText(jobs: number, slots: number): string {
  return jobs > slots ? `${slots}/${slots}+${jobs - slots}` : `${jobs}/${slots}`
}
