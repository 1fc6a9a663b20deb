import type { CommandSpec, OptionSpec } from '@parley/command-line'
import { JSON_OPTION } from '../../option/json-option.ts'

/** For both; kept free of imports that take time, because a client waits for the first answer of these commands. */
const SERVER_OPTIONS = {
  engine: {
    doc: 'what does the work: a real codex, or mini, our own; default: codex where one is found, else mini',
    value: 'ENGINE',
    choices: ['codex', 'mini'],
  },
  codex: { doc: 'the codex to use, a path or a name (PARLEY_CODEX; default: codex on PATH)', value: 'PATH', isFile: true },
  config: {
    doc: 'a setting that wins over the configuration file, as Codex takes it; may be repeated',
    value: 'KEY=VALUE',
    short: 'c',
    repeats: true,
  },
  data: {
    doc: 'where mini keeps conversations, configuration and key (PARLEY_DATA_DIR, default .parley of the clone)',
    value: 'DIR',
    isFile: true,
  },
  port: { doc: 'not taken: it speaks on stdin and stdout; parley proxy serves it over HTTP', value: 'PORT' },
  host: { doc: 'not taken, as --port', value: 'ADDRESS' },
} as const satisfies Record<string, OptionSpec>

const NOTES = [
  'codex runs in your environment and your CODEX_HOME; mini asks models at PARLEY_MODEL_BASE_URL with PARLEY_MODEL_API_KEY.',
  'Commands of mini run in the sandbox; where none holds they are refused, unless a client asks for danger-full-access.',
  'Logs go to stderr: RUST_LOG or PARLEY_LOG, as in info,parley_codex=debug,codex=off. It ends when its input does.',
]

/** Servers on stdio for programs that were written for Codex. */
export const SERVER_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'mcp-server',
    summary: 'What codex mcp-server was, on any Codex or none',
    more: 'An MCP server on stdio with the tools codex and codex-reply.',
    options: {
      ...SERVER_OPTIONS,
      dialect: { doc: 'whose shapes it speaks (default 0.153)', value: 'VERSION', choices: ['0.44', '0.153'] },
      unanswerable: {
        doc: 'what becomes of a question to a client that cannot be asked (default deny)',
        value: 'ANSWER',
        choices: ['deny', 'approve', 'abort', 'ask'],
      },
    },
    notes: ['Where a configuration says "codex mcp-server", write "parley mcp-server".', ...NOTES],
    run: async (invocation) => (await import('./mcp-server.ts')).mcpServerCommand(invocation),
  },
  {
    name: 'app-server',
    summary: 'What codex app-server was until 0.107, on any Codex or none',
    more: 'newConversation, sendUserTurn and the others, on stdio.',
    options: {
      ...SERVER_OPTIONS,
      dialect: { doc: 'whose methods it speaks (default 0.44)', value: 'VERSION', choices: ['0.42', '0.44'] },
    },
    notes: ['0.42 is what codex mcp was: jsonrpc in every message, and the MCP tools beside the methods.', ...NOTES],
    run: async (invocation) => (await import('./app-server.ts')).appServerCommand(invocation),
  },
  {
    name: 'exec-server',
    summary: 'Runs processes for others, as codex exec-server does',
    more: 'Programs that speak its process API start commands here: a Codex by its environments.toml, parley by a URL.',
    options: {
      listen: { doc: 'ws://ADDRESS:PORT, unix:PATH or stdio (default ws://127.0.0.1:0, any free port)', value: 'WHERE' },
      join: { doc: 'takes part as an executor of this gateway, http://host:port, instead of listening', value: 'URL' },
      'token-file': {
        doc: 'a file with the token that clients must show; with --join our own (PARLEY_EXECUTOR_TOKEN)',
        value: 'FILE',
        isFile: true,
      },
      name: { doc: 'with --join: what it is called there (default: as its token is named)', value: 'NAME' },
      label: { doc: 'with --join: what is said of it; may be repeated', value: 'KEY=VALUE', repeats: true },
      slots: { doc: 'processes at once (default 256)', value: 'N' },
      root: {
        doc: 'a folder whose files clients may read and change; may be repeated; without any, none',
        value: 'DIR',
        isFile: true,
        repeats: true,
      },
      contain: { doc: 'gives each process a PID namespace of its own: also what leaves its group ends with it' },
      'tls-cert': { doc: 'certificate file, for wss://', value: 'FILE', isFile: true },
      'tls-key': { doc: 'key file, for wss://', value: 'FILE', isFile: true },
      insecure: { doc: 'allows ws:// on an address that other machines reach' },
      ...JSON_OPTION,
    },
    notes: [
      'It prints its URL when it is ready; with --json {url}. Whoever connects runs programs as you do: --root bounds files that clients ask for, not programs.',
      'An address that other machines reach needs --token-file. On stdio it ends, with all that it started, when its input does.',
      'With --join nothing listens: it dials the gateway, which admins reach it through (parley proxy --executor NAME). With --json {name, url}.',
    ],
    run: async (invocation) => (await import('./exec-server.ts')).execServerCommand(invocation),
  },
]
