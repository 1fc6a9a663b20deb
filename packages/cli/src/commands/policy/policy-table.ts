import type { CommandSpec, Invocation } from '@parley/command-line'
import { TRIED_CALL_OPTIONS, WHOSE_OPTIONS } from '@parley/shell'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'

type Policies = typeof import('./policies.ts')
const inPolicies =
  (choose: (commands: Policies) => (invocation: Invocation) => Promise<number>) =>
  async (invocation: Invocation): Promise<number> =>
    choose(await import('./policies.ts'))(invocation)

const FILE = { name: 'FILE', doc: 'the policy in TOML; - is stdin', isFile: true } as const
const VERSION = { name: 'VERSION', doc: 'which version, by its number' } as const
const NOTE = { note: { doc: 'what it is for; the history shows it', value: 'TEXT' } } as const
const AGENT = { agent: { doc: 'the agent: its id, or the name of one of yours', value: 'AGENT' } } as const
const WHOSE = { ...WHOSE_OPTIONS, ...JOB_OPTIONS } as const
const RULES_NOTE = 'docs/policy.md says how rules are written.'

/** What agents may do: who says so, and what another policy would change. */
export const POLICY_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'policy show',
    summary: 'Prints the active policy as it is written',
    more: 'For an agent also what people have allowed it for a while, as comments.',
    options: { version: { doc: 'this version instead of the active one', value: 'N' }, ...WHOSE },
    notes: [WHERE_NOTE],
    run: inPolicies(({ policyShow }) => policyShow),
  },
  {
    name: 'policy set',
    summary: 'Writes a new version down and says what it would change',
    more: 'Its examples are tried, and calls that were made are decided again. Nothing changes before it is activated.',
    options: {
      ...NOTE,
      activate: { doc: 'makes it active at once, if no example fails and nothing becomes looser' },
      yes: { doc: 'with --activate: also if something becomes looser' },
      ...WHOSE,
    },
    positionals: [FILE],
    notes: ['With --json one line: the version with its review. Exit code 1 where an example fails.', RULES_NOTE, WHERE_NOTE],
    run: inPolicies(({ policySet }) => policySet),
  },
  {
    name: 'policy replay',
    summary: 'Says what a version would change now; also one of before',
    options: WHOSE,
    positionals: [VERSION],
    run: inPolicies(({ policyReplay }) => policyReplay),
  },
  {
    name: 'policy activate',
    summary: 'Makes a version the active one',
    more: 'Without --digest it shows what would change and asks.',
    options: {
      digest: { doc: 'that of what was shown: nothing else is activated', value: 'SHA256' },
      yes: { doc: 'does not ask' },
      ...WHOSE,
    },
    positionals: [VERSION],
    run: inPolicies(({ policyActivate }) => policyActivate),
  },
  {
    name: 'policy test',
    summary: 'Says what would be decided about a call, and why',
    more: 'Nothing is called.',
    options: {
      ...AGENT,
      ...TRIED_CALL_OPTIONS,
      file: { doc: 'with this policy instead of the active one', value: 'FILE', isFile: true },
      layer: {
        doc: 'whose policy --file stands for (default: the agent’s)',
        value: 'LAYER',
        choices: ['installation', 'owner', 'agent'],
      },
      ...JOB_OPTIONS,
    },
    run: inPolicies(({ policyTest }) => policyTest),
  },
  {
    name: 'policy history',
    summary: 'Lists the versions of a policy, newest first',
    options: WHOSE,
    run: inPolicies(({ policyVersions }) => policyVersions),
  },
  {
    name: 'policy retire',
    summary: 'Takes the active version away: no rules are left then',
    more: 'Its versions are kept, and can become active again.',
    options: WHOSE,
    run: inPolicies(({ policyRetire }) => policyRetire),
  },
  {
    name: 'policy propose',
    summary: 'Asks whoever may decide for another policy of an agent',
    more: 'It is found among the approvals, and a yes makes it active.',
    options: { ...AGENT, ...NOTE, ...JOB_OPTIONS },
    positionals: [FILE],
    notes: [RULES_NOTE],
    run: inPolicies(({ policyPropose }) => policyPropose),
  },
  {
    name: 'policy disallow',
    summary: 'Ends what was allowed to an agent for a while',
    options: { ...AGENT, ...JOB_OPTIONS },
    positionals: [{ name: 'ALLOWANCE', doc: 'its id, or a beginning of it that no other has' }],
    notes: ['parley policy show --agent AGENT lists them.'],
    run: inPolicies(({ policyDisallow }) => policyDisallow),
  },
]
