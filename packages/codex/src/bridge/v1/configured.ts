import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import type { OpenOrder } from '../../port/order.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import { SavedConfig } from './answers.ts'

/** What the configuration says a conversation has, in the words of `config.toml`; undefined where it says nothing. */
export interface Configured {
  readonly approvalPolicy: JsonValue | undefined
  readonly sandboxMode: JsonValue | undefined
  readonly summary: JsonValue | undefined
  /** Of `sandbox_workspace_write`. */
  readonly workspaceWrite: JsonObject
}

type Ask = (method: string, params?: JsonObject) => Promise<JsonValue>

/** As Codex has it: a profile wins over single settings, and those over the file. */
export async function configuredFor(order: OpenOrder, ask: Ask, hasConfigRead: boolean): Promise<Configured> {
  const { config: file, showsSandbox } = await configurationOf(order, ask, hasConfigRead)
  const given = order.config ?? {}
  const name = order.profile ?? given['profile'] ?? file['profile']
  const profile = typeof name === 'string' ? { ...table(table(file, 'profiles'), name), ...table(given, `profiles.${name}`) } : {}
  const setting = (key: string): JsonValue | undefined => profile[key] ?? given[key] ?? file[key] ?? undefined
  return {
    approvalPolicy: setting('approval_policy'),
    // A profile that may have a sandbox of its own, which is not told, leaves none to go by.
    sandboxMode: typeof name === 'string' && !showsSandbox ? undefined : setting('sandbox_mode'),
    summary: setting('model_reasoning_summary'),
    workspaceWrite: { ...table(file, 'sandbox_workspace_write'), ...table(given, 'sandbox_workspace_write') },
  }
}

/** All layers together where this version tells them, else the user's file, without the sandboxes of its profiles. */
async function configurationOf(
  { folder }: OpenOrder,
  ask: Ask,
  hasConfigRead: boolean,
): Promise<{ readonly config: JsonObject; readonly showsSandbox: boolean }> {
  if (hasConfigRead)
    try {
      const params = { includeLayers: false, ...(folder === undefined ? {} : { cwd: folder }) }
      return { config: SavedConfig.parse(await ask('config/read', params)).config, showsSandbox: true }
    } catch (error) {
      if (!(error instanceof RemoteFailure)) throw error
    }
  return { config: snakeKeys(SavedConfig.parse(await ask('getUserSavedConfig')).config), showsSandbox: false }
}

const NAMES: Readonly<Record<string, string>> = { sandboxSettings: 'sandbox_workspace_write' }

/** `getUserSavedConfig` has names of its own for the keys of the file. */
function snakeKeys(config: JsonObject): JsonObject {
  const entries = Object.entries(config).map(([key, value]) => {
    const name = NAMES[key] ?? key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    if (key === 'profiles' && isJsonObject(value)) return [name, profilesOf(value)] as const
    return [name, isJsonObject(value) ? snakeKeys(value) : value] as const
  })
  return Object.fromEntries(entries)
}

/** The name of a profile is nobody's to change. */
const profilesOf = (profiles: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(profiles).map(([name, one]) => [name, isJsonObject(one) ? snakeKeys(one) : one]))

/** A table of the configuration, whether it is given whole or key by key. */
function table(config: JsonObject, name: string): JsonObject {
  const whole = config[name]
  const single = Object.entries(config).filter(([key]) => key.startsWith(`${name}.`))
  return {
    ...(isJsonObject(whole) ? whole : {}),
    ...Object.fromEntries(single.map(([key, value]) => [key.slice(name.length + 1), value])),
  }
}
