import * as z from 'zod'

const Seconds = z.number().nonnegative()
const Texts = z.record(z.string(), z.string())

/** One `[mcp_servers.NAME]` of a configuration file. What we do not know is kept. */
export const McpServerEntry = z
  .looseObject({
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: Texts.optional(),
    env_vars: z.array(z.unknown()).optional(),
    cwd: z.string().optional(),
    environment_id: z.string().min(1).optional(),
    url: z.string().min(1).optional(),
    bearer_token_env_var: z.string().optional(),
    http_headers: Texts.optional(),
    env_http_headers: Texts.optional(),
    http_headers_helper: z.unknown().optional(),
    enabled: z.boolean().optional(),
    startup_timeout_sec: Seconds.optional(),
    startup_timeout_ms: Seconds.optional(),
    tool_timeout_sec: Seconds.optional(),
    enabled_tools: z.array(z.string()).optional(),
    disabled_tools: z.array(z.string()).optional(),
    scopes: z.array(z.string()).optional(),
    oauth: z.looseObject({ client_id: z.string().optional(), callback_port: z.int().optional() }).optional(),
    oauth_resource: z.string().optional(),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: 'needs either command or url, and not both',
  })
  .refine((entry) => !('bearer_token' in entry), {
    error: 'has a literal bearer_token: put it into a variable and name that in bearer_token_env_var',
  })
export type McpServerEntry = z.infer<typeof McpServerEntry>

/** As Codex has them since 0.166; older versions take letters, digits, `-` and `_` alone. */
const NAME = /^[A-Za-z0-9_\-:@/.]+$/
const NAME_CHARACTERS = 128

export const isServerName = (name: string): boolean =>
  // The one key that an object cannot hold like any other.
  NAME.test(name) && name.length <= NAME_CHARACTERS && name !== '__proto__'

/** How somebody signs in at a server, in Codex's words. */
export const AUTH_STATUSES = {
  unsupported: 'Unsupported',
  not_logged_in: 'Not logged in',
  bearer_token: 'Bearer token',
  o_auth: 'OAuth',
  unknown: 'Unknown',
} as const
export type AuthStatusName = keyof typeof AUTH_STATUSES

const MASK = '*****'
const masked = (values: Readonly<Record<string, string>> | undefined): Record<string, string> | null =>
  values === undefined
    ? null
    : Object.fromEntries(
        Object.keys(values)
          .toSorted()
          .map((key) => [key, MASK]),
      )

/** The transport as `list --json` shows it. Values of variables and headers are secrets more often than not: only their names are shown. */
function transportOf(entry: McpServerEntry): Record<string, unknown> {
  if (entry.command !== undefined) {
    return {
      type: 'stdio',
      command: entry.command,
      args: entry.args ?? [],
      env: masked(entry.env),
      env_vars: entry.env_vars ?? [],
      cwd: entry.cwd ?? null,
    }
  }
  return {
    type: 'streamable_http',
    url: entry.url,
    bearer_token_env_var: entry.bearer_token_env_var ?? null,
    http_headers: masked(entry.http_headers),
    env_http_headers: entry.env_http_headers ?? null,
    http_headers_helper: entry.http_headers_helper ?? null,
  }
}

const startupSeconds = ({ startup_timeout_sec: seconds, startup_timeout_ms: ms }: McpServerEntry): number | null =>
  seconds ?? (ms === undefined ? null : ms / 1_000)

/** One element of `list --json`. */
export function listed(name: string, entry: McpServerEntry, auth: AuthStatusName): Record<string, unknown> {
  return {
    name,
    enabled: entry.enabled ?? true,
    disabled_reason: null,
    transport: transportOf(entry),
    startup_timeout_sec: startupSeconds(entry),
    tool_timeout_sec: entry.tool_timeout_sec ?? null,
    auth_status: auth,
  }
}

/** `get --json`. */
export function shown(name: string, entry: McpServerEntry): Record<string, unknown> {
  return {
    name,
    enabled: entry.enabled ?? true,
    disabled_reason: null,
    transport: transportOf(entry),
    enabled_tools: entry.enabled_tools ?? null,
    disabled_tools: entry.disabled_tools ?? null,
    startup_timeout_sec: startupSeconds(entry),
    tool_timeout_sec: entry.tool_timeout_sec ?? null,
  }
}

const orDash = (text: string | undefined): string => (text === undefined || text === '' ? '-' : text)
const pairs = (values: Record<string, string> | null): string =>
  orDash(
    Object.entries(values ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(', '),
  )

/** Cells of a row in the text of `list`, in Codex's order. */
export function rowOf(name: string, entry: McpServerEntry, auth: AuthStatusName): readonly string[] {
  const state = [entry.enabled === false ? 'disabled' : 'enabled', AUTH_STATUSES[auth]]
  if (entry.url !== undefined) return [name, entry.url, orDash(entry.bearer_token_env_var), ...state]
  return [name, entry.command ?? '', orDash(entry.args?.join(' ')), pairs(masked(entry.env)), orDash(entry.cwd), ...state]
}
export const STDIO_HEADINGS = ['Name', 'Command', 'Args', 'Env', 'Cwd', 'Status', 'Auth'] as const
export const HTTP_HEADINGS = ['Name', 'Url', 'Bearer Token Env Var', 'Status', 'Auth'] as const

/** The text of `get`. */
export function entryText(name: string, entry: McpServerEntry): string {
  if (entry.enabled === false) return `${name} (disabled)\n`
  const own =
    entry.url === undefined
      ? [
          ['transport', 'stdio'],
          ['command', entry.command ?? ''],
          ['args', orDash(entry.args?.join(' '))],
          ['cwd', orDash(entry.cwd)],
          ['env', pairs(masked(entry.env))],
        ]
      : [
          ['transport', 'streamable_http'],
          ['url', entry.url],
          ['bearer_token_env_var', orDash(entry.bearer_token_env_var)],
          ['http_headers', pairs(masked(entry.http_headers))],
          ['env_http_headers', pairs(entry.env_http_headers ?? null)],
          ['http_headers_helper', entry.http_headers_helper === undefined ? '-' : JSON.stringify(entry.http_headers_helper)],
        ]
  const more = [
    ['environment_id', entry.environment_id],
    ['enabled_tools', entry.enabled_tools?.join(', ')],
    ['disabled_tools', entry.disabled_tools?.join(', ')],
    ['startup_timeout_sec', startupSeconds(entry)?.toString()],
    ['tool_timeout_sec', entry.tool_timeout_sec?.toString()],
  ].flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))
  const lines = [['enabled', 'true'], ...own, ...more, ['remove', `parley mcp remove ${name}`]]
  return `${name}\n${lines.map(([key, value]) => `  ${key}: ${value}\n`).join('')}`
}
