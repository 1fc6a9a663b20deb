import type { ModelWire, ReasoningEffort } from '@parley/protocol'

const PROVIDER = 'parley'
/** Where Codex looks for the key, in its environment and in `auth.json`. */
const KEY_NAME = 'OPENAI_API_KEY'

/** A `config.toml` with which Codex asks our proxy. It holds no secret: the key comes by the environment. */
export function codexConfig(options: {
  readonly model: string
  readonly baseUrl: string
  readonly wire: ModelWire
  readonly effort: ReasoningEffort
}): string {
  return [
    `model = ${toml(options.model)}`,
    `model_provider = ${toml(PROVIDER)}`,
    `model_reasoning_effort = ${toml(options.effort)}`,
    '',
    `[model_providers.${PROVIDER}]`,
    `name = ${toml('Parley')}`,
    `base_url = ${toml(options.baseUrl)}`,
    `wire_api = ${toml(options.wire)}`,
    `env_key = ${toml(KEY_NAME)}`,
    '',
  ].join('\n')
}

/** The `auth.json` beside it, in base64. */
export const codexAuth = (apiKey: string): string => Buffer.from(JSON.stringify({ [KEY_NAME]: apiKey })).toString('base64')

/** A basic string: as in JSON, and DEL must be escaped too. */
const toml = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f')
