import type { CommandSpec } from '@parley/command-line'
import { INSTANCE_OPTIONS } from '../../option/instance-options.ts'
import { JSON_OPTION } from '../../option/json-option.ts'

const FILE_OPTIONS = { data: INSTANCE_OPTIONS.data, config: INSTANCE_OPTIONS.config } as const
const NAME = { name: 'NAME', doc: 'the server' }
const FORCE = { force: { doc: 'puts it in the place of one of the same name' } } as const
const FILE_NOTE =
  "They are in DATA/config.toml, in the form of Codex's own file. Comments and what is not known stay as they are."
const CODEX_FILE = { value: 'FILE', isFile: true } as const

/** MCP servers of this machine. */
export const MCP_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'mcp add',
    summary: 'Adds an MCP server: a command after --, or --url',
    options: {
      env: { doc: 'a variable for the command; may be given more than once', value: 'KEY=VALUE', repeats: true },
      environment: { doc: 'runs the command in this environment of DATA/environments.toml (docs/exec-server.md)', value: 'ID' },
      url: { doc: 'a server over Streamable HTTP, in place of a command', value: 'URL' },
      'bearer-token-env-var': { doc: 'the variable that has the token for --url in it', value: 'VARIABLE' },
      'oauth-client-id': { doc: 'a client that is registered at the authorization server of --url', value: 'ID' },
      'oauth-resource': { doc: 'what the token is asked for, where it is not --url', value: 'RESOURCE' },
      command: { doc: 'the command as one text, in place of -- and words', value: 'LINE' },
      ...FORCE,
      ...FILE_OPTIONS,
      ...JSON_OPTION,
    },
    positionals: [NAME],
    rest: 'CMD [ARGS…]',
    notes: [FILE_NOTE, 'With --url it looks whether the server wants a sign-in; parley mcp login does it.'],
    run: async (invocation) => (await import('./mcp.ts')).mcpAdd(invocation),
  },
  {
    name: 'mcp list',
    summary: 'Lists the MCP servers of this machine',
    more: 'Values of variables are never shown.',
    options: { ...FILE_OPTIONS, ...JSON_OPTION },
    notes: [FILE_NOTE],
    run: async (invocation) => (await import('./mcp.ts')).mcpList(invocation),
  },
  {
    name: 'mcp get',
    summary: 'Shows one MCP server',
    options: { ...FILE_OPTIONS, ...JSON_OPTION },
    positionals: [NAME],
    run: async (invocation) => (await import('./mcp.ts')).mcpGet(invocation),
  },
  {
    name: 'mcp remove',
    summary: 'Removes an MCP server, and forgets its sign-in',
    options: { ...FILE_OPTIONS, ...JSON_OPTION },
    positionals: [NAME],
    run: async (invocation) => (await import('./mcp.ts')).mcpRemove(invocation),
  },
  {
    name: 'mcp login',
    summary: 'Signs in at a server with the browser (OAuth)',
    options: {
      scopes: { doc: 'what to ask for, separated by commas (default: what the server names)', value: 'SCOPE,SCOPE' },
      'no-browser': { doc: 'shows the address and opens nothing' },
      'client-secret-file': { doc: 'the secret of a registered client that has one', value: 'FILE', isFile: true },
      ...FILE_OPTIONS,
      ...JSON_OPTION,
    },
    positionals: [NAME],
    notes: ['The token is kept in DATA/mcp-tokens.json, mode 600, and goes to the address it was given for alone.'],
    run: async (invocation) => (await import('./mcp-sign-in.ts')).mcpLogin(invocation),
  },
  {
    name: 'mcp logout',
    summary: 'Forgets the sign-in at a server',
    options: { ...FILE_OPTIONS, ...JSON_OPTION },
    positionals: [NAME],
    run: async (invocation) => (await import('./mcp-sign-in.ts')).mcpLogout(invocation),
  },
  {
    name: 'mcp import',
    summary: "Takes over MCP servers from Codex's own file",
    options: {
      from: { doc: 'the file (default CODEX_HOME/config.toml)', ...CODEX_FILE },
      only: { doc: 'a server; may be given more than once (default: all)', value: 'NAME', repeats: true },
      ...FORCE,
      ...FILE_OPTIONS,
      ...JSON_OPTION,
    },
    notes: ['One that is here already is left as it is unless --force says otherwise. Sign-ins are not taken over.'],
    run: async (invocation) => (await import('./mcp-exchange.ts')).mcpImport(invocation),
  },
  {
    name: 'mcp export',
    summary: "Writes MCP servers into Codex's own file",
    options: {
      to: { doc: 'the file (default CODEX_HOME/config.toml)', ...CODEX_FILE },
      only: { doc: 'a server; may be given more than once (default: all)', value: 'NAME', repeats: true },
      ...FORCE,
      ...FILE_OPTIONS,
      ...JSON_OPTION,
    },
    notes: ['One that is there already is left as it is unless --force says otherwise.'],
    run: async (invocation) => (await import('./mcp-exchange.ts')).mcpExport(invocation),
  },
]
