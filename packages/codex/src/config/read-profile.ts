import { join } from 'node:path'
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from '@parley/protocol'
import { findConfig, readConfig } from './config-file.ts'
import { parseToml } from './toml-edit.ts'

/** What can be the name of a file; others are looked for in the configuration alone. */
const FILE_NAME = /^[A-Za-z0-9_-]+$/
/** What can stand between two dots of a key. */
const BARE_KEY = /^[A-Za-z0-9_-]+$/
/** What says which profile holds, or what profiles there are, is none of a profile's settings. */
const NO_SETTINGS = new Set(['profile', 'profiles'])

/** All that a configuration file says. Throws `TomlEditError`. */
export async function readUserConfig(codexHome: string): Promise<JsonObject> {
  return asJson(parseToml(await readConfig(join(codexHome, 'config.toml'))))
}

/**
 * The settings of a profile by dotted key, from a file of its own, as newer versions have them, or from the table of old.
 * Undefined where there is neither. Throws `TomlEditError`.
 */
export async function readProfile(codexHome: string, name: string): Promise<JsonObject | undefined> {
  const own = FILE_NAME.test(name) ? await findConfig(join(codexHome, `${name}.config.toml`)) : undefined
  if (own !== undefined) return dotted(asJson(parseToml(own)))
  return profileOf(await readUserConfig(codexHome), name)
}

/** The same from the table of old alone. */
export function profileOf({ profiles }: JsonObject, name: string): JsonObject | undefined {
  const table = isJsonObject(profiles) && Object.hasOwn(profiles, name) ? profiles[name] : undefined
  return isJsonObject(table) ? dotted(table) : undefined
}

/** Key by key, so that what a table says beside them stays. */
function dotted(table: JsonObject): JsonObject {
  const settings: Record<string, JsonValue> = {}
  const add = (path: string, value: JsonValue): void => {
    if (isJsonObject(value) && Object.keys(value).length > 0 && Object.keys(value).every((key) => BARE_KEY.test(key)))
      for (const [key, inner] of Object.entries(value)) add(`${path}.${key}`, inner ?? null)
    else settings[path] = value
  }
  for (const [key, value] of Object.entries(table)) if (!NO_SETTINGS.has(key)) add(key, value ?? null)
  return settings
}

/** Dates become texts: no setting is one. */
function asJson(document: Readonly<Record<string, unknown>>): JsonObject {
  const value = parseJson(JSON.stringify(document))
  return isJsonObject(value) ? value : {}
}
