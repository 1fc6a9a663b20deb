import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MODEL_KEY } from '../world/codex-config.ts'

export interface CodexHomeOptions {
  /** With `/v1`. */
  readonly modelUrl: string
  readonly model?: string
  /** More TOML, put at the end. */
  readonly extra?: string
}

/** A private CODEX_HOME whose only model is the one at `modelUrl`. */
export interface CodexHome extends AsyncDisposable {
  readonly path: string
  readonly configPath: string
}

export async function codexHome({ modelUrl, model = 'gpt-5', extra = '' }: CodexHomeOptions): Promise<CodexHome> {
  const path = await mkdtemp(join(tmpdir(), 'codex-home-'))
  const configPath = join(path, 'config.toml')
  await mkdir(join(path, 'tmp'))
  await writeFile(configPath, `${configText(model, modelUrl)}${extra}\n`)
  return {
    path,
    configPath,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

const configText = (model: string, modelUrl: string): string => `model = ${JSON.stringify(model)}
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = ${JSON.stringify(modelUrl)}
wire_api = "responses"
env_key = "${MODEL_KEY.name}"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

`
