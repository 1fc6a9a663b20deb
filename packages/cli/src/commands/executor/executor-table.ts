import type { CommandSpec } from '@parley/command-line'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'

/** The executors of a gateway. One is started by `exec-server --join`. */
export const EXECUTOR_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'executor list',
    summary: 'Lists the executors that are here: labels, load; for admins',
    options: { all: { doc: 'those of the last day that left, too' }, ...JOB_OPTIONS },
    notes: [
      WHERE_NOTE,
      'parley exec-server --join makes a machine an executor; parley proxy --executor NAME runs a server there.',
    ],
    run: async (invocation) => (await import('./workers.ts')).workerList('executor', invocation),
  },
  {
    name: 'executor drain',
    summary: 'Tells an executor to take no new sessions; for admins',
    more: 'What it has goes on.',
    options: { undo: { doc: 'lets it take sessions again' }, ...JOB_OPTIONS },
    positionals: [{ name: 'NAME', doc: 'the executor, as executor list names it' }],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./workers.ts')).workerDrain('executor', invocation),
  },
]
