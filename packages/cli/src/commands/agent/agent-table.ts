import type { CommandSpec, OptionSpec } from '@parley/command-line'
import { BUDGET_OPTIONS, WAKE_OPTIONS } from '@parley/shell'
import { JOB_OPTIONS, WHERE_NOTE } from '../../option/job-options.ts'
import { AGENT } from './agent-argument.ts'
import { CHAT_COMMANDS } from './chat-table.ts'
import { TURN_COMMANDS } from './turn-table.ts'

const SETTINGS = {
  'instructions-file': { doc: 'a file with what it is told to do', value: 'FILE', isFile: true },
  model: { doc: 'the model that it is to use', value: 'MODEL' },
  engine: { doc: 'what drives the model', value: 'ENGINE', choices: ['mini', 'codex'] },
  folder: { doc: 'the folder of its host that a local one works in (default: one of its own); must be granted', value: 'DIR' },
  ...WAKE_OPTIONS,
  ...BUDGET_OPTIONS,
} as const satisfies Record<string, OptionSpec>

/** Agents and their tokens. */
const AGENTS: readonly CommandSpec[] = [
  {
    name: 'agent create',
    summary: 'Makes an agent: local, which takes turns here, or external, a program of yours',
    options: {
      kind: {
        doc: 'local or external (default: as the preset; else local with a model)',
        value: 'KIND',
        choices: ['local', 'external'],
      },
      preset: { doc: 'what it is made from (default: default)', value: 'PRESET' },
      ...SETTINGS,
      ...JOB_OPTIONS,
    },
    positionals: [{ name: 'NAME', doc: 'what to call it (default: as the preset)', optional: true }],
    notes: ['Presets are DATA/presets/NAME.toml of the gateway; docs/settings.md shows one.', WHERE_NOTE],
    run: async (invocation) => (await import('./agents.ts')).agentCreate(invocation),
  },
  {
    name: 'agent list',
    summary: 'Lists your agents, newest first; for an admin, all',
    options: JOB_OPTIONS,
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./agents.ts')).agentList(invocation),
  },
  {
    name: 'agent show',
    summary: 'Shows an agent, and which host holds it',
    options: JOB_OPTIONS,
    positionals: [AGENT],
    run: async (invocation) => (await import('./agents.ts')).agentShow(invocation),
  },
  {
    name: 'agent update',
    summary: 'Changes an agent; what is not given stays',
    options: {
      name: { doc: 'what to call it from now on', value: 'NAME' },
      'no-folder': { doc: 'a folder of its own again' },
      ...SETTINGS,
      ...JOB_OPTIONS,
    },
    notes: ['What it is doing goes on; a change counts from its next turn.'],
    positionals: [AGENT],
    run: async (invocation) => (await import('./agents.ts')).agentUpdate(invocation),
  },
  {
    name: 'agent delete',
    summary: 'Ends an agent: its tokens, mounts and logs go',
    options: {
      'forget-unknown': { doc: 'also where an approved call is under way, or nobody knows what became of it' },
      ...JOB_OPTIONS,
    },
    notes: ['Such calls are asked about at a terminal; parley approvals resolve says what became of one.'],
    positionals: [AGENT],
    run: async (invocation) => (await import('./agents.ts')).agentDelete(invocation),
  },
  {
    name: 'agent token',
    summary: 'Makes a token with which a program is this agent',
    more: 'At /mcp of the gateway it finds the tools of what is mounted.',
    options: {
      ttl: { doc: 'how long it is good: 90s, 30m, 12h, 7d (default 30d)', value: 'TIME' },
      rotate: { doc: 'ends the tokens before it' },
      out: { doc: 'a new file for it, which only you can read, instead of stdout', value: 'FILE', isFile: true },
      ...JOB_OPTIONS,
    },
    positionals: [AGENT],
    notes: ['Only the token goes to stdout. With --json {token, id, agent_id, expires_at, revoked}, with --out {file, …}.'],
    run: async (invocation) => (await import('./agents.ts')).agentToken(invocation),
  },
]

/** What is mounted for them. */
const MOUNTS: readonly CommandSpec[] = [
  {
    name: 'mount attach',
    summary: 'Mounts an MCP server for an agent: a command or a URL',
    more: 'One of the same name is replaced.',
    options: {
      env: { doc: 'a variable for the command; may be repeated', value: 'KEY=VALUE', repeats: true },
      // Not `--env-file`: Node takes that for itself, wherever it stands.
      'env-from': { doc: 'a file of such lines: values on a command line show in ps', value: 'FILE', isFile: true },
      header: { doc: "a header for URL, as 'Name: value'; may be repeated", value: 'HEADER', repeats: true },
      place: { doc: 'where the command runs: boxed (default), host, or executor:NAME', value: 'PLACE' },
      folder: { doc: 'the folder that it runs in (default: one of the agent’s own)', value: 'DIR' },
      network: { doc: 'gives a boxed command the network of its host' },
      plain: { doc: 'shows its tools without the name before them; one mount of an agent may be' },
      eager: { doc: 'starts it with the agent, not when it is first needed' },
      allow: { doc: 'shows this tool and those named so alone; may be repeated', value: 'TOOL', repeats: true },
      deny: { doc: 'hides this tool; may be repeated', value: 'TOOL', repeats: true },
      'allow-resource': { doc: 'shows resources of this URI alone; X* is all that begin so', value: 'URI', repeats: true },
      'deny-resource': { doc: 'hides resources of this URI; may be repeated', value: 'URI', repeats: true },
      'allow-prompt': { doc: 'shows this prompt alone; may be repeated', value: 'PROMPT', repeats: true },
      'deny-prompt': { doc: 'hides this prompt; may be repeated', value: 'PROMPT', repeats: true },
      ...JOB_OPTIONS,
    },
    positionals: [
      AGENT,
      { name: 'NAME', doc: 'its name' },
      { name: 'SERVER', doc: 'its URL, instead of a command', optional: true },
    ],
    rest: 'CMD [ARGS…]',
    notes: [
      'place host and executor:NAME, --folder, --network and addresses that are not public must be granted: parley grant set.',
      WHERE_NOTE,
    ],
    run: async (invocation) => (await import('./mounts.ts')).mountAttach(invocation),
  },
  {
    name: 'mount login',
    summary: 'Signs in at the server of a mount, in a browser (OAuth)',
    more: 'The tokens go to the gateway, sealed, and are renewed by whichever host holds the agent.',
    options: {
      scopes: { doc: 'what to ask for (default: what the server names)', value: 'S1,S2' },
      'client-id': { doc: 'of a client that is registered there; without it one is registered', value: 'ID' },
      'client-secret-file': { doc: 'a file with the secret of that client', value: 'FILE', isFile: true },
      'no-browser': { doc: 'only prints the address' },
      ...JOB_OPTIONS,
    },
    positionals: [AGENT, { name: 'NAME', doc: 'the mount' }],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./mount-login.ts')).mountLogin(invocation),
  },
  {
    name: 'mount detach',
    summary: 'Takes a mount off an agent; its program ends',
    options: JOB_OPTIONS,
    positionals: [AGENT, { name: 'NAME', doc: 'the mount' }],
    run: async (invocation) => (await import('./mounts.ts')).mountDetach(invocation),
  },
  {
    name: 'mount list',
    summary: 'Lists the mounts of an agent, and what became of each',
    more: 'Values of variables and headers are never shown.',
    options: JOB_OPTIONS,
    positionals: [AGENT],
    run: async (invocation) => (await import('./mounts.ts')).mountList(invocation),
  },
]

const SWITCH = { value: 'on|off', choices: ['on', 'off'] } as const

/** What people's agents may run. */
const GRANTS: readonly CommandSpec[] = [
  {
    name: 'grant set',
    summary: 'Says what a user’s agents may run beyond boxes; for admins',
    more: 'What is not given stays; folders and executors replace those before. Mounts that are no longer allowed end.',
    options: {
      unboxed: { doc: 'programs on a host as they are', ...SWITCH },
      folder: { doc: 'a folder of hosts, with all below it; may be repeated', value: 'DIR', repeats: true },
      'no-folders': { doc: 'no folder any more' },
      executor: { doc: 'an executor, KEY=VALUE all with that label, * all; may be repeated', value: 'NAME', repeats: true },
      'no-executors': { doc: 'no executor any more' },
      'private-http': { doc: 'addresses that are not public, and the network of a host', ...SWITCH },
      ...JOB_OPTIONS,
    },
    positionals: [{ name: 'USER', doc: 'the user name' }],
    notes: [WHERE_NOTE],
    run: async (invocation) => (await import('./grants.ts')).grantSet(invocation),
  },
  {
    name: 'grant list',
    summary: 'Lists who was granted what; for admins',
    options: JOB_OPTIONS,
    run: async (invocation) => (await import('./grants.ts')).grantList(invocation),
  },
]

export const AGENT_COMMANDS: readonly CommandSpec[] = [...AGENTS, ...TURN_COMMANDS, ...CHAT_COMMANDS, ...MOUNTS, ...GRANTS]
