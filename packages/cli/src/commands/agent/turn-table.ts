import type { CommandSpec, Invocation } from '@parley/command-line'
import { CALLS_OPTIONS, FORK_OPTIONS } from '@parley/shell'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'
import { AGENT } from './agent-argument.ts'

type Turns = typeof import('./turns.ts')
const inTurns =
  (choose: (commands: Turns) => (invocation: Invocation) => Promise<number>) =>
  async (invocation: Invocation): Promise<number> =>
    choose(await import('./turns.ts'))(invocation)

const TEXT = { name: 'TEXT', doc: 'what to tell it; - is stdin', optional: true } as const
const DASH_NOTE = 'A text that begins with - goes after --: parley agent run NAME -- "-1 or 1?"'

/** What local agents are told, and what they answer. */
export const TURN_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'agent prompt',
    summary: 'Tells a local agent something and returns at once',
    more: 'While it takes a turn it waits for its own, in order.',
    options: JOB_OPTIONS,
    positionals: [AGENT, TEXT],
    rest: 'TEXT',
    notes: [DASH_NOTE, WHERE_NOTE],
    run: inTurns(({ agentPrompt }) => agentPrompt),
  },
  {
    name: 'agent run',
    summary: 'Tells a local agent something and shows its turn until it ends',
    options: { wait: { doc: 'how long at most, in seconds (default 600)', value: 'S' }, ...JOB_OPTIONS },
    positionals: [AGENT, TEXT],
    rest: 'TEXT',
    notes: [
      'Exit code: 0 completed, 1 failed, 3 not ended yet, 130 interrupted.',
      'A call that waits for a person is shown with the command that approves it.',
      'Ctrl-C or SIGTERM ends the turn; once more leaves it to itself.',
      'With --json each line is {next_offset, line}, and the last one is the prompt with its outcome.',
      DASH_NOTE,
      WHERE_NOTE,
    ],
    run: inTurns(({ agentRun }) => agentRun),
  },
  {
    name: 'agent abort',
    summary: 'Ends the turn that a local agent takes',
    options: { queued: { doc: 'takes back what waits behind it, too' }, ...JOB_OPTIONS },
    positionals: [AGENT],
    run: inTurns(({ agentAbort }) => agentAbort),
  },
  {
    name: 'agent fork',
    summary: 'Makes a new agent that knows what this one knew at a point',
    options: { ...FORK_OPTIONS, ...JOB_OPTIONS },
    positionals: [AGENT, { name: 'NAME', doc: 'what to call it (default: as the other, with a number)', optional: true }],
    run: inTurns(({ agentFork }) => agentFork),
  },
  {
    name: 'agent prompts',
    summary: 'Lists what a local agent was told, and what became of it',
    options: { limit: { doc: 'at most so many (default 20)', value: 'N' }, ...JOB_OPTIONS },
    positionals: [AGENT],
    run: inTurns(({ agentPrompts }) => agentPrompts),
  },
  {
    name: 'agent transcript',
    summary: 'Shows what a local agent said and did, each line with its offset',
    options: {
      from: { doc: 'from this offset on', value: 'OFFSET' },
      follow: { doc: 'shows more as it comes, until Ctrl-C' },
      ...JOB_OPTIONS,
    },
    positionals: [AGENT],
    notes: ['With --json each line is {next_offset, line}, what its engine remembers among them.'],
    run: inTurns(({ agentTranscript }) => agentTranscript),
  },
  {
    name: 'agent calls',
    summary: 'Shows what an agent called',
    more: 'A line a call: when, who, decided how and by which rule, how it ended.',
    options: { ...CALLS_OPTIONS, ...JOB_OPTIONS },
    positionals: [AGENT],
    notes: [
      'The newest 64 MiB of 90 days are kept; parley audit verify says whether they are as they were written.',
      'With --json each line is {next_offset, line} as it was written, up to three to a call, and --last counts these.',
    ],
    run: inTurns(({ agentCalls }) => agentCalls),
  },
]
