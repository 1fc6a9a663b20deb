import type { CommandSpec } from '@parley/command-line'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'
import { AGENT } from '../agent/agent-argument.ts'

const TIME_DOC = 'a date, a moment (2026-11-16 22:10), or how long ago: 30m, 12h, 7d'

/** What people may use. */
export const QUOTA_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'quota show',
    summary: 'Shows a quota and how far it is used up',
    options: JOB_OPTIONS,
    positionals: [{ name: 'NAME', doc: 'whose, for admins (default: your own)', optional: true }],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./quota.ts')).quotaShow(invocation),
  },
  {
    name: 'quota set',
    summary: 'Bounds what one person may use; for admins',
    more: 'What is not said stays.',
    options: {
      jobs: { doc: 'jobs that wait or run at once', value: 'N' },
      tokens: { doc: 'tokens of models in a day', value: 'N' },
      usd: { doc: 'dollars in a day: 2.50', value: 'USD' },
      'kept-bytes': { doc: 'what may be kept for them, uploads, texts and logs too: 4GiB', value: 'BYTES' },
      'kept-jobs': { doc: 'jobs that may be kept, ended ones too', value: 'N' },
      ...JOB_OPTIONS,
    },
    positionals: [{ name: 'NAME', doc: 'the user name' }],
    notes: [WHERE_NOTE, 'default in place of a number: the bound of the installation. Days are those of UTC.'],
    run: async (invocation) => (await import('./quota.ts')).quotaSet(invocation),
  },
]

/** Who did what. */
export const AUDIT_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'audit search',
    summary: 'Searches who did what, newest first; for admins',
    options: {
      actor: { doc: 'only what this one did: a user name, the name of a judge, local', value: 'NAME' },
      action: { doc: 'only this, as in job.create', value: 'ACTION' },
      changes: { doc: 'only what changes something, without what only reads; one line for each' },
      outcome: { doc: 'only what ended so', value: 'OUTCOME', choices: ['ok', 'denied', 'failed'] },
      since: { doc: TIME_DOC, value: 'TIME' },
      until: { doc: 'the same', value: 'TIME' },
      limit: { doc: 'at most so many, up to 1000 (default 50)', value: 'N' },
      ...JOB_OPTIONS,
    },
    notes: [WHERE_NOTE, 'Entries are kept for 90 days.'],
    run: async (invocation) => (await import('./audit.ts')).auditSearch(invocation),
  },
  {
    name: 'audit export',
    summary: 'Writes the whole audit log as JSON lines; for admins',
    more: 'Oldest first.',
    options: {
      out: { doc: 'a new file to write it to (default: standard output)', value: 'FILE', isFile: true },
      after: { doc: 'only entries after this number, to go on where the last export ended', value: 'SEQ' },
      ...JOB_OPTIONS,
    },
    notes: [WHERE_NOTE, 'With --json and --out one line at the end: {file, entries, last_seq}.'],
    run: async (invocation) => (await import('./audit.ts')).auditExport(invocation),
  },
  {
    name: 'audit verify',
    summary: 'Proves that the logs of agents’ calls are as they were written',
    more: 'Of one agent, or of all that are yours; for admins of everybody’s.',
    options: JOB_OPTIONS,
    positionals: [{ ...AGENT, optional: true }],
    notes: [
      WHERE_NOTE,
      'Each line is chained to the one before under a key that is made from the secret of the installation: what is proved is that the lines that are kept are those that a gateway wrote, all of them from the first to the last, in this order.',
      'What it cannot see: that an older state of the whole database was put back, or that a log was removed with all that is kept of it.',
      'Exit code: 0 everything is as it was written, 1 something is not: each fault is named with its agent and offset.',
      'With --json one line at the end: {agents, lines, not_chained, since, faults, complete}.',
    ],
    run: async (invocation) => (await import('./audit-verify.ts')).auditVerify(invocation),
  },
]
