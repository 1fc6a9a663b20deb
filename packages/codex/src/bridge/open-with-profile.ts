import { join } from 'node:path'
import { type JsonObject, type JsonValue, isJsonObject } from '@parley/protocol'
import { BackendError } from '../port/backend-error.ts'
import type { OpenOrder } from '../port/order.ts'
import { RemoteFailure } from '@parley/rpc/line-peer'
import type { OpenedThread } from './dialect.ts'

/** What newer versions say to a profile that is no file. */
const LEGACY = /legacy `profile = /

export interface ProfileContext {
  /** Where the files of the user's configuration are; left out, Codex is asked what is in them. */
  readonly codexHome: string | undefined
  /** Of the Codex that is asked. */
  readonly version: string
  readonly ask: (method: string, params: JsonObject) => Promise<JsonValue>
}

/** Whether Codex refused a profile for being one of old. */
export const isLegacyProfile = (error: unknown): boolean =>
  (error instanceof RemoteFailure || error instanceof BackendError) && LEGACY.test(error.message)

/**
 * Opens a thread with a profile, whichever way this Codex has them. Versions that know profiles as files know them at
 * their start alone: there the settings of the profile are sent one by one. Answers the order as it was taken.
 */
export async function openWithProfile(
  order: OpenOrder,
  context: ProfileContext,
  begin: (order: OpenOrder) => Promise<OpenedThread>,
): Promise<{ readonly thread: OpenedThread; readonly order: OpenOrder }> {
  try {
    return { thread: await begin(order), order }
  } catch (error) {
    if (!isLegacyProfile(error)) throw error
    const name = profileIn(order)
    if (name === undefined) throw refused(error, context)
    try {
      const taken = withoutProfile(order, await settingsOf(name, context))
      return { thread: await begin(taken), order: taken }
    } catch (again) {
      throw isLegacyProfile(again) ? refused(again, context) : again
    }
  }
}

function profileIn({ profile, config }: OpenOrder): string | undefined {
  const set = config?.['profile']
  return profile ?? (typeof set === 'string' ? set : undefined)
}

async function settingsOf(name: string, { codexHome, ask }: ProfileContext): Promise<JsonObject> {
  // Few need it, and a server that starts does not wait for what reads TOML.
  const { profileOf, readProfile, TomlEditError } = await import('../config/index.ts')
  let settings: JsonObject | undefined
  try {
    settings =
      codexHome === undefined
        ? profileOf(userLayer(await ask('config/read', { includeLayers: true })), name)
        : await readProfile(codexHome, name)
  } catch (cause) {
    if (!(cause instanceof TomlEditError)) throw cause
    throw new BackendError('invalid_request', `config profile \`${name}\` cannot be read: ${cause.message}`, {
      data: { param: 'profile' },
      cause,
    })
  }
  if (settings !== undefined) return settings
  throw new BackendError('invalid_request', `config profile \`${name}\` not found`, { data: { param: 'profile' } })
}

/** What the user's own file says, of all that a configuration is made of. */
function userLayer(read: JsonValue): JsonObject {
  const layers = isJsonObject(read) && Array.isArray(read['layers']) ? read['layers'].filter(isJsonObject) : []
  const user = layers.find(({ name }) => isJsonObject(name) && name['type'] === 'user')
  return isJsonObject(user?.['config']) ? user['config'] : {}
}

/** As with older versions: a profile wins over single settings, and what the order itself has a word for over both. */
function withoutProfile({ profile: _, config = {}, ...order }: OpenOrder, settings: JsonObject): OpenOrder {
  const { profile: __, ...given } = config
  const own = Object.entries(settings).map(([key, value]) => [key, inNewWords(key, value)] as const)
  return { ...order, config: { ...given, ...Object.fromEntries(own) } }
}

/** `on-failure` is gone; what comes nearest asks before it goes beyond the sandbox. */
const inNewWords = (key: string, value: JsonObject[string]): JsonObject[string] =>
  key === 'approval_policy' && value === 'on-failure' ? 'on-request' : value

/** The file itself has the line: nothing that is sent takes it back. */
function refused(cause: unknown, { codexHome, version }: ProfileContext): BackendError {
  const line = /`(profile = [^`]*)`/.exec(cause instanceof Error ? cause.message : '')?.[1] ?? 'profile = …'
  const file = codexHome === undefined ? 'config.toml' : join(codexHome, 'config.toml')
  return new BackendError(
    'invalid_request',
    `Codex ${version} does not work with the line \`${line}\` in ${file}: take it out, and name the profile with each conversation`,
    { data: { param: 'profile' }, cause },
  )
}
