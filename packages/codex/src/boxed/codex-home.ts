import { lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CodexHomeOptions {
  readonly folder: string
  readonly model: string
  /** What it reads at most, where that is known. */
  readonly contextTokens: number | null
  /** Where the model is, seen from inside of the box. */
  readonly baseUrl: string
  readonly random: (size: number) => Uint8Array
}

/** The CODEX_HOME of one job. */
export interface CodexHome {
  readonly folder: string
  /** Nothing has run in it yet: whatever lies in it is ours. */
  readonly isNew: boolean
}

const PROVIDER = 'parley'
const NAME_BYTES = 6
/** The gateway's own refusals come back at once; what is cut on the way is asked again a few times. */
const RETRIES = 3

/** Makes the home, or goes on with that of an earlier attempt, and writes the configuration anew. */
export function openCodexHome(options: CodexHomeOptions): CodexHome {
  const { folder, random } = options
  const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined
  if (isNew) mkdirSync(join(folder, 'tmp'), { mode: 0o700 })
  // What ran there may have put a link or a folder in its place: the file is made beside it, and the name is taken over.
  const fresh = Buffer.from(random(NAME_BYTES)).toString('hex')
  const partial = join(folder, `.config-${fresh}`)
  const config = join(folder, 'config.toml')
  writeFileSync(partial, configOf(options), { flag: 'wx', mode: 0o600 })
  if (lstatSync(config, { throwIfNoEntry: false })?.isDirectory() === true) renameSync(config, join(folder, `.left-${fresh}`))
  renameSync(partial, config)
  return { folder, isNew }
}

/**
 * Everything that would leave the machine or ask somebody is off. Codex's own sandbox is off too: the box around it holds it, and
 * another one inside cannot be made.
 */
const configOf = ({ model, contextTokens, baseUrl }: CodexHomeOptions): string => `model = ${toml(model)}
${contextTokens === null ? '' : `model_context_window = ${contextTokens}\n`}model_provider = ${toml(PROVIDER)}
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "disabled"
check_for_update_on_startup = false
cli_auth_credentials_store = "file"
mcp_oauth_credentials_store = "file"

[model_providers.${PROVIDER}]
name = "Parley"
base_url = ${toml(baseUrl)}
wire_api = "responses"
requires_openai_auth = false
request_max_retries = ${RETRIES}
stream_max_retries = ${RETRIES}

[history]
persistence = "none"

[analytics]
enabled = false

[feedback]
enabled = false

[otel]
exporter = "none"
`

/** A basic string: as in JSON, and DEL must be escaped too. */
const toml = (text: string): string => JSON.stringify(text).replaceAll('\u007f', String.raw`\u007f`)
