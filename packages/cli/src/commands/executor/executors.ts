import { type ExecutorView, WorkerName } from '@parley/protocol'
import { agoText, columns } from '@parley/screen'
import { type Invocation, usageError } from '@parley/command-line'
import { show } from '@parley/command-line/commands'
import { withCaller } from '../../caller/with-caller.ts'

const HEADER = ['name', 'state', 'processes', 'sessions', 'load', 'labels', 'version', 'machine', 'last seen']

/** The executors that are here; with `--all` those of the last day that left, too. */
export const executorList = (invocation: Invocation): Promise<number> =>
  withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('executor.list', { gone: invocation.values.has('all') })
    if (result.items.length === 0 && !invocation.values.has('json'))
      invocation.io.err('no executor is here; parley exec-server --join makes one\n')
    const rows = result.items.map((executor) => rowOf(executor, invocation))
    return show(invocation, result, columns([HEADER, ...rows], invocation.io.screen(), { mayGo: ['version', 'machine', 'load'] }))
  })

/** Tells an executor to take no new sessions, or to take them again. */
export const executorDrain = (invocation: Invocation): Promise<number> => {
  const { values, positionals } = invocation
  const name = WorkerName.safeParse(positionals[0])
  if (!name.success) throw usageError(`NAME ${name.error.issues[0]?.message}`, 'parley executor list shows the names')
  return withCaller(invocation, 'admin', async (caller) => {
    const result = await caller.call('executor.drain', { name: name.data, drain: !values.has('undo') })
    const now = result.drain ? 'finishes what it has and takes no new sessions' : 'takes new sessions'
    return show(invocation, result, columns([[`${result.name} ${now}.`]]))
  })
}

function rowOf(
  { name, state, slots, load, labels, facts, last_seen_at }: ExecutorView,
  { io }: Pick<Invocation, 'io'>,
): string[] {
  return [
    name,
    state,
    `${load.running}/${slots}`,
    String(load.sessions),
    load.load_1m === undefined ? '' : load.load_1m.toFixed(1),
    labels.map(({ key, value }) => `${key}=${value}`).join(' '),
    facts.version,
    `${facts.os} ${facts.arch}, ${facts.cores} cores`,
    agoText(last_seen_at, io),
  ]
}
