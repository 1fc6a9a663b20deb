import { fileURLToPath } from 'node:url'
import type { ScenarioSettings } from '../record/scenario.ts'

/** The variable with the key of the loopback model: Codex wants one, whatever is in it. */
export const MODEL_KEY = { name: 'PARLEY_CONTRACTS_KEY', value: 'key-of-the-loopback-model' } as const

const ECHO: MountCommand = { command: process.execPath, args: [fileURLToPath(new URL('echo-server.ts', import.meta.url))] }

/** How the mounted server of a scenario is started. */
export interface MountCommand {
  readonly command: string
  readonly args: readonly string[]
}

/** The `config.toml` of a private home for a scenario: everything it reaches is on this machine. */
export function codexConfig(settings: ScenarioSettings, modelUrl: string, mount: MountCommand = ECHO): string {
  const provider = `[model_providers.mock]
name = "mock"
base_url = ${JSON.stringify(modelUrl)}
wire_api = "responses"
env_key = "${MODEL_KEY.name}"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
`
  if (settings === 'openai') return `model = "gpt-5"\n\n${provider}`
  const top = 'model = "gpt-5"\nmodel_provider = "mock"\n'
  if (settings === 'saved') return `${top}${SAVED}${provider}`
  const fast = '\n[profiles.fast]\nmodel = "gpt-5-mini"\nmodel_reasoning_effort = "high"\n\n'
  return `${top}${fast}${provider}${settings === 'tools' ? mountOf(mount) : ''}`
}

const SAVED = `approval_policy = "on-request"
sandbox_mode = "workspace-write"
model_reasoning_effort = "low"
profile = "fast"

[sandbox_workspace_write]
network_access = true

[tools]
web_search = true

[profiles.fast]
model = "gpt-5-mini"
model_provider = "mock"

`

const mountOf = ({ command, args }: MountCommand): string => `
[mcp_servers.contract]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
`
