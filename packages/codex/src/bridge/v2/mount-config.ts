import type { MountSpec } from '@parley/agent'
import type { JsonObject } from '@parley/protocol'
import { BackendError } from '../../port/backend-error.ts'
import type { ApprovalPolicy } from '../../port/order.ts'

/** How long a server may take to come up. */
const STARTUP_SEC = 30

/** Whether Codex asks before it calls a mounted tool. */
const APPROVAL_MODES: Readonly<Record<ApprovalPolicy, string>> = {
  untrusted: 'prompt',
  'on-failure': 'auto',
  'on-request': 'auto',
  never: 'approve',
}

/** The mounts of a conversation as settings of Codex's configuration. Throws `BackendError` for one that no process can reach. */
export function mountConfig(mounts: readonly MountSpec[], policy: ApprovalPolicy | undefined): JsonObject {
  const config: JsonObject = {}
  for (const mount of mounts) {
    if (!/^[a-zA-Z0-9_-]+$/.test(mount.name))
      throw new BackendError('invalid_request', `mounts: ${JSON.stringify(mount.name)} cannot be the name of a server for Codex`)
    config[`mcp_servers.${mount.name}`] = {
      ...serverOf(mount),
      required: mount.required,
      startup_timeout_sec: STARTUP_SEC,
      supports_parallel_tool_calls: true,
      ...(mount.toolTimeoutMs === undefined ? {} : { tool_timeout_sec: Math.max(1, Math.ceil(mount.toolTimeoutMs / 1000)) }),
      ...(policy === undefined ? {} : { default_tools_approval_mode: APPROVAL_MODES[policy] }),
    }
  }
  return config
}

function serverOf({ name, server }: MountSpec): JsonObject {
  switch (server.kind) {
    case 'stdio':
      return {
        command: server.command,
        args: [...server.args],
        env: { ...server.env },
        ...(server.folder === undefined ? {} : { cwd: server.folder }),
        ...(server.environment === undefined ? {} : { environment_id: server.environment }),
      }
    case 'http':
      return { url: server.url, http_headers: { ...server.headers } }
    case 'linked':
      throw new BackendError(
        'unsupported',
        `mounts: ${name} is linked in this process, and Codex is another one: serve it over HTTP`,
      )
  }
}
