import { type JsonObject, isJsonObject } from '@parley/protocol'
import { TomlError, parse } from 'smol-toml'
import * as z from 'zod'
import { TomlEditError, readConfig, setModel, writeConfig } from '@parley/codex/config'
import { ApprovalPolicy, BackendError, SandboxMode } from '@parley/codex/port'
import type { SavedSettings } from '../backend.ts'
import { given } from '../given.ts'
import { type ConfigLayer, layered } from './config-layers.ts'

const Common = {
  model: z.string().optional(),
  approval_policy: ApprovalPolicy.optional(),
  model_reasoning_effort: z.string().optional(),
  model_reasoning_summary: z.string().optional(),
  model_verbosity: z.string().optional(),
}
const Profile = z.looseObject({
  ...Common,
  model_provider: z.string().optional(),
  sandbox_mode: SandboxMode.optional(),
  chatgpt_base_url: z.string().optional(),
})
/** A configuration file in Codex's form, as far as our own engine reads it; all else in it is kept and ignored. */
export const Configuration = z.looseObject({
  ...Common,
  sandbox_mode: SandboxMode.optional(),
  sandbox_workspace_write: z
    .looseObject({
      writable_roots: z.array(z.string()).optional(),
      network_access: z.boolean().optional(),
      exclude_tmpdir_env_var: z.boolean().optional(),
      exclude_slash_tmp: z.boolean().optional(),
    })
    .optional(),
  tools: z.looseObject({ web_search: z.boolean().optional(), view_image: z.boolean().optional() }).optional(),
  developer_instructions: z.string().optional(),
  profile: z.string().optional(),
  profiles: z.record(z.string(), Profile).optional(),
  mcp_servers: z.record(z.string(), z.looseObject({})).optional(),
})
export type Configuration = z.infer<typeof Configuration>
export type Profile = z.infer<typeof Profile>

/** What counts for one conversation. */
export interface ReadConfiguration {
  readonly config: Configuration
  /** MCP servers that are not the person's own: they get nothing of the environment. */
  readonly foreignServers: ReadonlySet<string>
}

/** The configuration file of our own engine. */
export class SettingsFile implements SavedSettings {
  readonly #path: string
  #writing: Promise<void> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  /** What the file says, and what is laid over it, the last one winning. Throws `BackendError`. */
  async read(...above: readonly ConfigLayer[]): Promise<ReadConfiguration> {
    const file: ConfigLayer = { values: parseConfig(this.#path, await readConfig(this.#path)), form: 'tables', isOwn: true }
    const { tree, foreignServers } = layered([file, ...above])
    const parsed = Configuration.safeParse(tree)
    if (parsed.success) return { config: parsed.data, foreignServers }
    const [issue] = parsed.error.issues
    const where = issue?.path.join('.') ?? ''
    throw new BackendError('invalid_request', `${this.#path}: \`${where}\`: ${issue?.message ?? 'cannot be read'}`, {
      data: { param: where },
      cause: parsed.error,
    })
  }

  async saved(): Promise<JsonObject> {
    return savedShape((await this.read()).config)
  }

  async setDefaultModel(model: string | null, effort: string | null): Promise<void> {
    const turn = this.#writing.then(async () => {
      const before = await readConfig(this.#path)
      parseConfig(this.#path, before)
      const after = this.#edited(before, model, effort)
      if (after !== before) await writeConfig(this.#path, after)
    })
    this.#writing = turn.catch(() => undefined)
    await turn
  }

  /** Nothing that was asked for so far is still being written. */
  written(): Promise<void> {
    return this.#writing
  }

  #edited(text: string, model: string | null, effort: string | null): string {
    try {
      return setModel(text, model, effort)
    } catch (cause) {
      if (!(cause instanceof TomlEditError)) throw cause
      throw new BackendError('failed', `${this.#path}: ${cause.message}; or set the model there by hand`, { cause })
    }
  }
}

/** The tables of a file. Throws `BackendError`. */
export function parseConfig(path: string, text: string): JsonObject {
  try {
    // Dates and the like become texts: nobody here reads them.
    const tree: unknown = JSON.parse(JSON.stringify(parse(text)))
    return isJsonObject(tree) ? tree : {}
  } catch (cause) {
    const message = cause instanceof TomlError ? cause.message : String(cause)
    throw new BackendError('invalid_request', `${path} cannot be read: ${message}`, { cause })
  }
}

/** In the shape of `getUserSavedConfig`. */
export function savedShape(config: Configuration): JsonObject {
  const { sandbox_workspace_write: write, tools } = config
  return given({
    approvalPolicy: config.approval_policy,
    sandboxMode: config.sandbox_mode,
    sandboxSettings:
      write === undefined
        ? undefined
        : {
            writableRoots: write.writable_roots ?? [],
            networkAccess: write.network_access ?? false,
            excludeTmpdirEnvVar: write.exclude_tmpdir_env_var ?? false,
            excludeSlashTmp: write.exclude_slash_tmp ?? false,
          },
    model: config.model,
    modelReasoningEffort: config.model_reasoning_effort,
    modelReasoningSummary: config.model_reasoning_summary,
    modelVerbosity: config.model_verbosity,
    tools: tools === undefined ? undefined : given({ webSearch: tools.web_search, viewImage: tools.view_image }),
    profile: config.profile,
    profiles: Object.fromEntries(Object.entries(config.profiles ?? {}).map(([name, profile]) => [name, profileShape(profile)])),
  })
}

const profileShape = (profile: Profile): JsonObject => ({
  model: profile.model ?? null,
  modelProvider: profile.model_provider ?? null,
  approvalPolicy: profile.approval_policy ?? null,
  modelReasoningEffort: profile.model_reasoning_effort ?? null,
  modelReasoningSummary: profile.model_reasoning_summary ?? null,
  modelVerbosity: profile.model_verbosity ?? null,
  chatgptBaseUrl: profile.chatgpt_base_url ?? null,
})
