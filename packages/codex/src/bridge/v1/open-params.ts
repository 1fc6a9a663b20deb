import type { MountSpec } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { BackendError } from '../../port/backend-error.ts'
import type { OpenOrder } from '../../port/order.ts'

/** What a version of these dialects can mount: servers that are commands, or HTTP as well. */
export type Mountable = 'commands' | 'commands-and-http'

const BEARER = /^bearer (.+)$/i
/** Runs a command in another folder, for versions that know no folder for a server. */
const IN_FOLDER = ['-c', 'cd "$0" && exec "$@"']

/** An order as `newConversation` takes it. What is left out is left to the configuration file. */
export function openParams(order: OpenOrder, mountable: Mountable): JsonObject {
  const config: JsonObject = {
    ...order.config,
    ...(order.effort === undefined ? {} : { model_reasoning_effort: order.effort }),
    ...(order.network === undefined ? {} : { 'sandbox_workspace_write.network_access': order.network }),
    ...mountConfig(order.mounts ?? [], mountable),
  }
  return defined({
    model: order.model,
    profile: order.profile,
    cwd: order.folder,
    approvalPolicy: order.approvalPolicy,
    sandbox: order.sandbox,
    config: Object.keys(config).length === 0 ? undefined : config,
    baseInstructions: order.baseInstructions,
    includePlanTool: order.planTool,
    includeApplyPatchTool: order.patchTool,
  })
}

function mountConfig(mounts: readonly MountSpec[], mountable: Mountable): JsonObject {
  const config: JsonObject = {}
  for (const mount of mounts) {
    config[`mcp_servers.${mount.name}`] = mountTable(mount, mountable)
    // These versions have two clients, and the usual one speaks to commands alone.
    if (mount.server.kind === 'http') config['experimental_use_rmcp_client'] = true
  }
  return config
}

function mountTable({ name, server, toolTimeoutMs }: MountSpec, mountable: Mountable): JsonObject {
  const timeout = toolTimeoutMs === undefined ? {} : { tool_timeout_sec: toolTimeoutMs / 1_000 }
  if (server.kind === 'stdio') {
    const { command, args, env, folder, environment } = server
    if (environment !== undefined)
      throw unmountable(name, 'this version of Codex runs commands where it runs itself', 'use Codex 0.140 or later')
    if (folder === undefined) return { command, args: [...args], env: { ...env }, ...timeout }
    return { command: '/bin/sh', args: [...IN_FOLDER, folder, command, ...args], env: { ...env }, ...timeout }
  }
  if (server.kind === 'linked') throw unmountable(name, 'it lives inside this process', 'serve it over HTTP or as a command')
  if (mountable === 'commands')
    throw unmountable(name, 'this version of Codex mounts commands alone', 'mount it as a command, or use Codex 0.44 or later')
  const { authorization, ...others } = Object.fromEntries(
    Object.entries(server.headers).map(([header, value]) => [header.toLowerCase(), value]),
  )
  const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  if (Object.keys(others).length > 0 || (authorization !== undefined && token === undefined))
    throw unmountable(name, 'this version of Codex sends no header but a bearer token', 'use Codex 0.108 or later')
  return { url: server.url, ...(token === undefined ? {} : { bearer_token: token }), ...timeout }
}

const unmountable = (name: string, why: string, fix: string): BackendError =>
  new BackendError('unsupported', `the server ${name} cannot be mounted: ${why}; ${fix}`, { data: { param: `mounts.${name}` } })

/** Without what is undefined. */
export function defined(fields: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  const kept: JsonObject = {}
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value
  return kept
}
