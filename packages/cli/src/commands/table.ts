import type { CommandGroup, CommandSpec } from '@parley/command-line'
import { SHELLS } from '@parley/command-line/completion'
import { INSTANCE_OPTIONS, LISTEN_OPTIONS } from '../option/instance-options.ts'
import { TARGET_OPTIONS } from '../option/target.ts'
import { ACCOUNT_COMMANDS } from './account/account-table.ts'
import { AGENT_COMMANDS } from './agent/agent-table.ts'
import { APPROVAL_COMMANDS } from './approval/approval-table.ts'
import { CONTRACTS_COMMANDS } from './contracts/contracts-table.ts'
import { EXECUTOR_COMMANDS } from './executor/executor-table.ts'
import { HOST_COMMANDS, HOST_OPTIONS } from './host/host-table.ts'
import { JOB_COMMANDS } from './job/job-table.ts'
import { JSON_OPTION } from '../option/json-option.ts'
import { JUDGE_COMMANDS, JUDGE_OPTIONS } from './judge/judge-table.ts'
import { MCP_COMMANDS } from './mcp/mcp-table.ts'
import { MODEL_COMMANDS } from './model/model-table.ts'
import { POLICY_COMMANDS } from './policy/policy-table.ts'
import { SERVER_COMMANDS } from './server/server-table.ts'
import { AUDIT_COMMANDS, QUOTA_COMMANDS } from './upkeep/upkeep-table.ts'

const TOKEN_NOTE = 'A token given by --token shows in ps: rather use --token-file or PARLEY_TOKEN.'

/** Where everybody begins. */
const START_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'up',
    summary: 'Starts everything on this machine: gateway, page, judge, host',
    more: 'It keeps its data in SQLite under .parley/.',
    options: {
      ...LISTEN_OPTIONS,
      ...INSTANCE_OPTIONS,
      'no-judge': { doc: 'starts no judge' },
      'no-host': { doc: 'starts no host: agents wait for one' },
      root: HOST_OPTIONS.root,
      slots: JUDGE_OPTIONS.slots,
      sandbox: JUDGE_OPTIONS.sandbox,
      engine: JUDGE_OPTIONS.engine,
      codex: JUDGE_OPTIONS.codex,
      attempts: JUDGE_OPTIONS.attempts,
      log: logOption(),
      ...JSON_OPTION,
    },
    notes: [
      'The first start makes an admin. While that account has no password every start prints a one-time link to sign in with.',
      'With --json one line is printed when it is ready: {url, mcp, ws, sign_in, admin, data}.',
    ],
    run: async (invocation) => (await import('./instance/up.ts')).up(invocation),
  },
  {
    name: 'demo',
    summary: 'Shows a whole job from end to end: no key, no network',
    more: 'On an instance of its own an agent writes, fails and repairs, and a judge proves it.',
    options: {
      example: {
        doc: 'the problem: knapsack, goldbach (a checker of its own), stairs (Python); default knapsack',
        value: 'NAME',
      },
      keep: { doc: 'stays up afterwards and prints a link to the page, until Ctrl-C; on a terminal it does so anyway' },
      ...JSON_OPTION,
    },
    notes: [
      'A script plays the model; everything else is real: the wires, the engine, the sandbox, the judge. All of it is removed at the end.',
      'With --json one line for each event; the last line is {job_id, status, report}. Exit code: 0 succeeded, 1 failed, 3 not judged, 130 cancelled.',
    ],
    run: async (invocation) => (await import('./instance/demo.ts')).demo(invocation),
  },
  {
    name: 'doctor',
    summary: 'Says what works here, what is missing and how to get it',
    more: 'With --url it walks along a connection instead, and names the first step that fails.',
    options: {
      ...TARGET_OPTIONS,
      ...INSTANCE_OPTIONS,
      port: LISTEN_OPTIONS.port,
      host: LISTEN_OPTIONS.host,
      'codex-config': { doc: "looks over Codex's own configuration instead, and shows what would repair it" },
      'codex-home': { doc: 'where that is (CODEX_HOME, default ~/.codex)', value: 'DIR', isFile: true },
      'codex-version': { doc: 'for which version (default: the codex on PATH)', value: 'VERSION' },
      yes: { doc: 'writes the repair: a provider and a profile of their own; what is there stays' },
      undo: { doc: 'takes the last repair back' },
      ...JSON_OPTION,
    },
    notes: [
      "With an admin's token the walk makes a token that ends after a minute, and revokes it at once, to see an update arrive.",
      TOKEN_NOTE,
    ],
    run: async (invocation) => (await import('./instance/doctor.ts')).doctor(invocation),
  },
  {
    name: 'help',
    summary: 'Says what a command does',
    options: {},
    positionals: [
      { name: 'COMMAND', doc: 'a command', optional: true },
      { name: 'SUBCOMMAND', doc: 'a second word, if it has one', optional: true },
    ],
    run: async (invocation) => (await import('./help.ts')).help(invocation),
  },
]

/** Processes and what is to be done about an installation. */
const UPKEEP_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'gateway',
    summary: 'Runs the gateway alone, for containers and service managers',
    more: 'It has no supervisor.',
    options: {
      ...LISTEN_OPTIONS,
      ...INSTANCE_OPTIONS,
      log: logOption(),
      ...JSON_OPTION,
    },
    notes: ['Beyond loopback it needs --tls-cert and --tls-key, or --insecure; docs/serving.md shows how.'],
    run: async (invocation) => (await import('./instance/gateway.ts')).gateway(invocation),
  },
  {
    name: 'backup',
    summary: 'Writes a copy of the database into one file',
    more: 'It is consistent, also while a gateway runs.',
    options: { ...INSTANCE_OPTIONS, ...JSON_OPTION },
    positionals: [{ name: 'FILE', doc: 'where to write it', isFile: true }],
    notes: ['DATA/secret is not in it: keep that too, the database is of no use to a gateway with another secret.'],
    run: async (invocation) => (await import('./instance/backup.ts')).backup(invocation),
  },
  {
    name: 'restore',
    summary: 'Puts a backup into a new data folder or an empty database',
    options: { ...INSTANCE_OPTIONS, ...JSON_OPTION },
    positionals: [{ name: 'FILE', doc: 'what backup wrote', isFile: true }],
    run: async (invocation) => (await import('./instance/backup.ts')).restore(invocation),
  },
  {
    name: 'config check',
    summary: 'Shows the settings in effect, and what is wrong with them',
    more: 'It says of each where it comes from, and tells all that is wrong at once.',
    options: { ...INSTANCE_OPTIONS, ...JSON_OPTION },
    run: async (invocation) => (await import('./instance/config-check.ts')).configCheck(invocation),
  },
  {
    name: 'trust',
    summary: "Lets a folder's own settings count",
    more: 'Its parley.toml, and its .parley/config.toml for the engine mini. Without this nothing of the folder that a command is called in is read.',
    options: {
      list: { doc: 'shows the folders that are trusted' },
      remove: { doc: 'takes it back', value: 'PATH', isFile: true },
      ...JSON_OPTION,
    },
    positionals: [{ name: 'PATH', doc: 'the folder', isFile: true, optional: true }],
    notes: [
      'It must be yours, and nobody else may write to it. One that is replaced by another folder is not trusted any more.',
      'Your own settings are parley.toml of the clone, else in $XDG_CONFIG_HOME/parley (~/.config/parley).',
    ],
    run: async (invocation) => (await import('./instance/trust.ts')).trust(invocation),
  },
  ...AUDIT_COMMANDS,
  {
    name: 'completion',
    summary: 'Prints a script that teaches your shell these commands',
    options: {},
    positionals: [{ name: 'SHELL', doc: 'your shell', choices: SHELLS }],
    notes: ['bash: eval "$(parley completion bash)"'],
    run: async (invocation) => (await import('./completion.ts')).completion(invocation),
  },
  {
    name: 'version',
    summary: 'Says which version this is',
    options: JSON_OPTION,
    run: async (invocation) => (await import('./version.ts')).version(invocation),
  },
]

const PROXY_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'proxy',
    summary: 'Serves one MCP server over Streamable HTTP and WebSocket',
    more: 'The server is a command on stdio, or a URL.',
    options: {
      port: { doc: 'the port; 0: any free one (default 7401)', value: 'PORT' },
      host: { doc: 'the address to listen on (default 127.0.0.1)', value: 'ADDRESS' },
      'token-file': {
        doc: 'a file with the token that clients must show; without it a random one is made and printed',
        value: 'FILE',
        isFile: true,
      },
      'no-auth': { doc: 'lets in whoever can connect; on loopback only' },
      'upstream-token-file': { doc: 'a file with the token for URL', value: 'FILE', isFile: true },
      era: {
        doc: 'what is spoken with the server; auto, the default: what each client speaks, where the server has it',
        value: 'ERA',
        choices: ['auto', 'legacy', 'modern'],
      },
      env: { doc: 'variables the command gets besides PATH, HOME and the like: A,B=value', value: 'NAMES' },
      executor: { doc: 'runs the command there: the name of an executor, or ws://…, wss://… or unix:PATH', value: 'WHERE' },
      gateway: {
        doc: 'the gateway that knows the executor, http://host:port (PARLEY_URL; default: the one that runs on --data)',
        value: 'URL',
      },
      'executor-token-file': {
        doc: 'a file with the token for the exec-server at a URL, or for --gateway (PARLEY_TOKEN)',
        value: 'FILE',
        isFile: true,
      },
      data: INSTANCE_OPTIONS.data,
      config: INSTANCE_OPTIONS.config,
      'tls-cert': LISTEN_OPTIONS['tls-cert'],
      'tls-key': LISTEN_OPTIONS['tls-key'],
      insecure: LISTEN_OPTIONS.insecure,
      ...JSON_OPTION,
    },
    positionals: [{ name: 'URL', doc: 'an MCP server over HTTP, instead of a command', optional: true }],
    rest: 'CMD [ARGS…]',
    notes: ['Clients that declare nothing to be asked share one child; any other session has a child of its own.'],
    run: async (invocation) => (await import('./instance/proxy.ts')).proxy(invocation),
  },
]

/** Every command of `parley`, by what one wants to do. Within a group what one needs first comes first. */
export const GROUPS: readonly CommandGroup[] = [
  { name: 'start', title: 'Start', commands: START_COMMANDS },
  { name: 'jobs', title: 'Jobs', commands: JOB_COMMANDS },
  { name: 'judges', title: 'Judges and the sandbox', commands: JUDGE_COMMANDS },
  {
    name: 'agents',
    title: 'Agents, what is mounted for them, what they may do, and hosts',
    commands: [...AGENT_COMMANDS, ...POLICY_COMMANDS, ...APPROVAL_COMMANDS, ...HOST_COMMANDS],
  },
  { name: 'models', title: 'Models, and what they cost', commands: MODEL_COMMANDS },
  { name: 'codex', title: 'What was written for Codex', commands: [...SERVER_COMMANDS, ...CONTRACTS_COMMANDS] },
  { name: 'mcp', title: 'MCP servers, and where they run', commands: [...MCP_COMMANDS, ...PROXY_COMMANDS, ...EXECUTOR_COMMANDS] },
  { name: 'accounts', title: 'Accounts, tokens and quotas', commands: [...ACCOUNT_COMMANDS, ...QUOTA_COMMANDS] },
  { name: 'upkeep', title: 'Upkeep', commands: UPKEEP_COMMANDS },
]

export const COMMANDS: readonly CommandSpec[] = GROUPS.flatMap(({ commands }) => commands)

function logOption() {
  return {
    doc: 'how much is logged to stderr (PARLEY_LOG)',
    value: 'LEVEL',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
  } as const
}
