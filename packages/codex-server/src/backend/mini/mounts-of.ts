import type { MountServer, MountSpec } from '@parley/agent'
import * as z from 'zod'
import { BackendError } from '@parley/codex/port'

/** Looks up a variable of the environment. */
export type Variables = (name: string) => string | undefined

const Texts = z.record(z.string(), z.string())
/** One `[mcp_servers.NAME]` of Codex's file, as far as it says where the server is. */
const McpServer = z.looseObject({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: Texts.optional(),
  cwd: z.string().optional(),
  environment_id: z.string().min(1).optional(),
  url: z.string().optional(),
  bearer_token_env_var: z.string().optional(),
  http_headers: Texts.optional(),
  env_http_headers: Texts.optional(),
  enabled: z.boolean().optional(),
  required: z.boolean().optional(),
  tool_timeout_sec: z.number().positive().optional(),
})

/** What a server that is started gets of the environment beside what the file names. */
const INHERITED = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'SHELL'] as const
/** What Codex calls the environment that it runs in itself. */
const LOCAL = 'local'
const MOUNT_NAME = /^[a-z][a-z0-9-]*$/

/**
 * The MCP servers of a configuration as mounts of a conversation. Those that are not the person's own get what every program
 * needs of the environment, and no variable by name. Throws `BackendError` for one that cannot be read.
 */
export function mountsOf(
  servers: Readonly<Record<string, unknown>>,
  variables: Variables,
  foreign: ReadonlySet<string> = new Set(),
): MountSpec[] {
  return Object.entries(servers).flatMap(([name, value]) => {
    const parsed = McpServer.safeParse(value)
    if (!parsed.success) throw wrong(name, parsed.error.issues[0]?.message ?? 'cannot be read')
    const server = parsed.data
    if (server.enabled === false) return []
    const { tool_timeout_sec: seconds, required = false } = server
    const toolTimeoutMs = seconds === undefined ? {} : { toolTimeoutMs: Math.round(seconds * 1_000) }
    return [
      {
        name: mountName(name),
        server: serverOf(name, server, { variables, isForeign: foreign.has(name) }),
        required,
        ...toolTimeoutMs,
      },
    ]
  })
}

interface Environment {
  readonly variables: Variables
  readonly isForeign: boolean
}

function serverOf(name: string, server: z.infer<typeof McpServer>, { variables, isForeign }: Environment): MountServer {
  const { command, url, bearer_token_env_var: tokenVariable } = server
  const named = [...(tokenVariable === undefined ? [] : [tokenVariable]), ...Object.values(server.env_http_headers ?? {})]
  if (isForeign && named.length > 0)
    throw wrong(name, `asks for ${named.join(', ')}: only servers of your own configuration get variables of the environment`)
  const environment = server.environment_id === LOCAL ? undefined : server.environment_id
  if (environment !== undefined && (command === undefined || isForeign))
    throw wrong(name, `environment_id: only commands of your own configuration run in an environment`)
  if (command !== undefined && environment !== undefined) {
    const folder = server.cwd === undefined ? {} : { folder: server.cwd }
    // The usual variables are those of the place where it runs.
    return { kind: 'stdio', command, args: server.args ?? [], env: server.env ?? {}, environment, ...folder }
  }
  if (command !== undefined) {
    const inherited = INHERITED.flatMap((variable) => {
      const value = variables(variable)
      return value === undefined ? [] : [[variable, value] as const]
    })
    const env = { ...Object.fromEntries(inherited), ...server.env }
    return { kind: 'stdio', command, args: server.args ?? [], env, ...(server.cwd === undefined ? {} : { folder: server.cwd }) }
  }
  if (url === undefined) throw wrong(name, 'needs a command or a url')
  const token = tokenVariable === undefined ? undefined : variables(tokenVariable)
  if (tokenVariable !== undefined && token === undefined) throw wrong(name, `the variable ${tokenVariable} is not set`)
  const fromVariables = Object.entries(server.env_http_headers ?? {}).flatMap(([header, variable]) => {
    const value = variables(variable)
    return value === undefined ? [] : [[header, value] as const]
  })
  const headers = {
    ...server.http_headers,
    ...Object.fromEntries(fromVariables),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  }
  return { kind: 'http', url, headers }
}

/** Codex allows more in a name than a mount does. */
function mountName(name: string): string {
  if (MOUNT_NAME.test(name)) return name
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
  return MOUNT_NAME.test(plain) ? plain : `m-${plain}`
}

const wrong = (name: string, why: string): BackendError =>
  new BackendError('invalid_request', `mcp_servers.${name}: ${why}`, { data: { param: `mcp_servers.${name}` } })
