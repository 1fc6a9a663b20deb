import { type ExecutorView, WorkerName } from '@parley/protocol'
import { agoText, columns } from '@parley/screen'
import { type Invocation, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { withCaller } from '../../caller/with-caller.ts'

type WorkerKind = 'executor' | 'host'

/** What differs between the two in words. */
const WORDS = {
  executor: {
    running: 'processes',
    none: 'no executor is here; parley exec-server --join makes one\n',
    drains: 'finishes what it has and takes no new sessions',
    takes: 'takes new sessions',
  },
  host: {
    running: 'agents',
    none: 'no host is here; parley host starts one\n',
    drains: 'gives its agents back and takes no new ones',
    takes: 'takes agents',
  },
} as const
const REST = ['load', 'labels', 'version', 'machine', 'last seen']

/** Those that are here; with `--all` those of the last day that left, too. */
export const workerList = (kind: WorkerKind, invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'admin', async (caller) => {
    const { io, values } = invocation
    const result = await caller.call(`${kind}.list`, { gone: values.has('all') })
    const { running, none } = WORDS[kind]
    if (result.items.length === 0 && !values.has('json')) io.err(none)
    const header = ['name', 'state', running, ...(kind === 'executor' ? ['sessions'] : []), ...REST]
    const rows = result.items.map((worker) => rowOf(kind, worker, invocation))
    return show(invocation, result, columns([header, ...rows], io.screen(), { mayGo: ['version', 'machine', 'load'] }))
  })

/** Tells one to take nothing new, or to take it again. */
export const workerDrain = (kind: WorkerKind, invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const name = WorkerName.safeParse(positionals[0])
  if (!name.success) throw usageError(`NAME ${name.error.issues[0]?.message}`, `parley ${kind} list shows the names`)
  return withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call(`${kind}.drain`, { name: name.data, drain: !values.has('undo') })
    return show(invocation, result, columns([[`${result.name} ${WORDS[kind][result.drain ? 'drains' : 'takes']}.`]]))
  })
}

/** A host is shown as an executor is. */
function rowOf(
  kind: WorkerKind,
  { name, state, slots, load, labels, facts, last_seen_at }: ExecutorView,
  { io }: Pick<Invocation, 'io'>,
): string[] {
  return [
    name,
    state,
    `${load.running}/${slots}`,
    ...(kind === 'executor' ? [String(load.sessions)] : []),
    load.load_1m === undefined ? '' : load.load_1m.toFixed(1),
    labels.map(({ key, value }) => `${key}=${value}`).join(' '),
    facts.version,
    `${facts.os} ${facts.arch}, ${facts.cores} cores`,
    agoText(last_seen_at, io),
  ]
}
