import type { CommandSpec, OptionSpec } from '@parley/command-line'
import { APPROVE_OPTIONS, LIST_OPTIONS } from '@parley/shell'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'

const APPROVAL = { name: 'APPROVAL', doc: 'its id, or a beginning of it that no other has' }
const SEEN = { ...APPROVAL, doc: `${APPROVAL.doc}, or @last: the newest that waits` }
const REASON = { reason: { doc: 'what the agent is told', value: 'TEXT' } } as const satisfies Record<string, OptionSpec>

/** What people are asked about, and what they say. */
export const APPROVAL_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'approvals list',
    summary: 'Lists the calls that wait for somebody to decide, or searches those that did',
    options: { ...LIST_OPTIONS, ...JOB_OPTIONS },
    notes: ['Those that have ended are kept for 90 days.', WHERE_NOTE],
    run: async (invocation) => (await import('./approvals.ts')).approvalsList(invocation),
  },
  {
    name: 'approvals show',
    summary: 'Shows a call that is asked about, with its arguments',
    more: 'Also by which rule of whose policy, who has said yes, and whether you may decide.',
    options: { whole: { doc: 'only the arguments, as they will be sent: secrets too, and nothing left out' }, ...JOB_OPTIONS },
    positionals: [SEEN],
    run: async (invocation) => (await import('./approvals.ts')).approvalsShow(invocation),
  },
  {
    name: 'approvals approve',
    summary: 'Lets a call through: this very one and once, unless more is said',
    options: { ...APPROVE_OPTIONS, ...REASON, ...JOB_OPTIONS },
    positionals: [APPROVAL],
    run: async (invocation) => (await import('./approvals.ts')).approvalsApprove(invocation),
  },
  {
    name: 'approvals deny',
    summary: 'Says no to a call; the agent goes on without it',
    options: { abort: { doc: 'ends the turn of the agent, too' }, ...REASON, ...JOB_OPTIONS },
    positionals: [SEEN],
    run: async (invocation) => (await import('./approvals.ts')).approvalsDeny(invocation),
  },
  {
    name: 'approvals watch',
    summary: 'Shows what waits as it comes; at a terminal you decide by a key',
    options: JOB_OPTIONS,
    notes: [
      'Keys: a approve, s for the session, r as a rule, d deny, x deny and abort, n next, q quit.',
      'Without a terminal each is a line, with --json an approval as a line of JSON, and nothing is decided; Ctrl-C or SIGTERM ends it (130).',
      WHERE_NOTE,
    ],
    run: async (invocation) => (await import('./approvals.ts')).approvalsWatch(invocation),
  },
  {
    name: 'approvals resolve',
    summary: 'Says what became of a call whose outcome is unknown',
    more: 'It is unknown when what had sent it died before the answer came. Nothing is sent again.',
    options: JOB_OPTIONS,
    positionals: [APPROVAL, { name: 'OUTCOME', doc: 'whether it was done', choices: ['done', 'not-done'] }],
    run: async (invocation) => (await import('./approvals.ts')).approvalsResolve(invocation),
  },
]
